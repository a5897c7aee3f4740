/* SPDX-License-Identifier: MIT */
/*
 * The lines of source of a compiled program's instructions, read from the program as XLA gives it
 * (HloModuleProtoWithConfig). Bytes are not trusted.
 *
 * XLA keeps for each instruction the frames of Python in which it was traced, without those of JAX
 * itself. An instruction that fuses several has the frames of one of them. Sources: XLA's
 * xla/service/hlo.proto, xla/xla_data.proto (OpMetadata).
 */
#ifndef PROBES_JAX_HLO_H
#define PROBES_JAX_HLO_H

#include <stdbool.h>

#include "probes/protobuf/pb.h"

/* Defines the line of each instruction that XLA may run by itself (rt_line_define), under its own
 * name and under that of its kernel. false: it is not such a program. Complexity: O(bytes). */
bool hlo_read(struct pb program);

#endif
