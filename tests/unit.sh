#!/bin/sh
# SPDX-License-Identifier: MIT
exec "${O:-build}/tests/unit"
