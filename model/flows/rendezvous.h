/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's rendezvous keys: tensorflow/core/framework/rendezvous.cc,
 * "SOURCE;INCARNATION;DESTINATION;TENSOR;FRAME:ITERATION", such as
 * "/job:a/replica:0/task:0/device:CPU:0;1f;/job:b/…;edge_5_Tanh;0:0": how the probe and
 * TensorFlow's profiles name what is sent. No state.
 */
#ifndef MODEL_RENDEZVOUS_H
#define MODEL_RENDEZVOUS_H

#include <stdbool.h>

#define RENDEZVOUS_NAME 1032

/* The key as a flow's name, "SOURCE -> DESTINATION: tensor"; what follows "TENSOR;" may
 * be missing. false: this is no such key. */
bool rendezvous_name(const char *text, char name[RENDEZVOUS_NAME]);

#endif
