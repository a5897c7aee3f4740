# SPDX-License-Identifier: MIT
"""The message XSpace of TensorFlow's wheel, without TensorFlow: importing that takes seconds."""
import importlib.util
import os


def _messages():
    home = importlib.util.find_spec("tensorflow").submodule_search_locations[0]
    paths = [os.path.join(home, part, "profiler", "protobuf", "xplane_pb2.py")
             for part in ("tsl", "core")]
    path = next(filter(os.path.exists, paths))
    spec = importlib.util.spec_from_file_location("xplane_pb2", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


XSpace = _messages().XSpace
