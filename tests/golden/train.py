# SPDX-License-Identifier: MIT
import numpy

def forward(x, weights):
    for w in weights:
        x = x @ w
        x = numpy.maximum(x, 0)
    return x

def backward(g, weights):
    for w in reversed(weights):
        g = g @ w.T

def train_step(batch, weights):
    backward(forward(batch, weights), weights)

weights = [numpy.ones((256 << i, 512 << i), "float32") for i in range(3)]
for batch in (numpy.ones((64, 256), "float32") for _ in range(100)):
    train_step(batch, weights)
