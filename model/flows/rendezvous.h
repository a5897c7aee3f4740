/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's rendezvous keys: tensorflow/core/framework/rendezvous.cc,
 * "SOURCE;INCARNATION;DESTINATION;TENSOR;FRAME:ITERATION", such as
 * "/job:a/replica:0/task:0/device:CPU:0;1f;/job:b/…;edge_5_Tanh;0:0": this is how the probe and
 * TensorFlow's profiles name a tensor that is sent. No state.
 */
#ifndef MODEL_RENDEZVOUS_H
#define MODEL_RENDEZVOUS_H

#include <stdbool.h>

#define RENDEZVOUS_NAME 1032

/* Makes a flow's name of the key, "SOURCE -> DESTINATION: tensor"; the part after "TENSOR;" may
 * be missing. false: the text is not a rendezvous key. */
bool rendezvous_name(const char *text, char name[RENDEZVOUS_NAME]);

#endif
