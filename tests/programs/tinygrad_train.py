# SPDX-License-Identifier: MIT
"""A training run of a real framework: needs DEV=CL TRAINING=1."""
import numpy as np
from tinygrad import Device, Tensor, TinyJit, nn

print(Device.DEFAULT)
Tensor.manual_seed(0)
rng = np.random.RandomState(0)


class Net:
    def __init__(self):
        self.conv = nn.Conv2d(1, 4, 3)
        self.dense = nn.Linear(4 * 10 * 10, 4)

    def __call__(self, x):
        return self.dense(self.conv(x).relu().flatten(1))


net = Net()
optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=0.05)
images = rng.randn(32, 1, 12, 12).astype(np.float32)
labels = (rng.rand(32) * 4).astype(np.int32)


@TinyJit
def step(x, y):
    optimizer.zero_grad()
    loss = net(x).sparse_categorical_crossentropy(y).backward()
    optimizer.step()
    return loss.realize()


for i in range(40):
    loss = step(Tensor(images).realize(), Tensor(labels).realize())
    if i % 10 == 9:
        print(i, f"{loss.item():.6f}", flush=True)
