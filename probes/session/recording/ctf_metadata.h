/* SPDX-License-Identifier: MIT */
/*
 * The metadata of a recorded trace, as far as it is needed to scan the packets: whether the layout
 * is LTTng's, UUID, byte order, clock. Part of ctf_scan.h.
 */
#ifndef PROBES_SESSION_CTF_METADATA_H
#define PROBES_SESSION_CTF_METADATA_H

#include "probes/session/recording/ctf_scan.h"

/* Reads trace->path/metadata and fills in the members that come from it. */
void ctf_metadata_read(struct ctf_trace *trace);
/* The same, from the file's content. */
void ctf_metadata_take(struct ctf_trace *trace, const uint8_t *data, size_t size);

#endif
