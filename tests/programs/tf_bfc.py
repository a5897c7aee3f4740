# SPDX-License-Identifier: MIT
"""Makes holes in the memory of TensorFlow's best-fit allocator, then asks for more than
there is: the allocator writes its bins and chunks to stderr. Ends at that moment, with
what tf.config says of the memory on stdout. TF_CPU_ALLOCATOR_USE_BFC has it used."""
import json
import os
import sys

os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = "256"
import tensorflow as tf

held = []
for i in range(300):
    held.append(tf.random.normal([64 + i * 7919 % 20000]))
    if i % 3 == 2:
        del held[i * 31 % len(held)]
try:
    tf.zeros([100 << 20])
except tf.errors.ResourceExhaustedError:
    print(json.dumps(tf.config.experimental.get_memory_info("CPU:0")))
    sys.stdout.flush()
    os._exit(0)
os._exit(1)
