# SPDX-License-Identifier: MIT
"""OpenCV's transparent OpenCL: needs OPENCV_OPENCL_DEVICE=":CPU:" without a GPU."""
import cv2
import numpy as np

print("OpenCL", cv2.ocl.haveOpenCL() and cv2.ocl.useOpenCL())
pixels = np.random.RandomState(0).randint(0, 256, (240, 320, 3)).astype(np.uint8)
image = cv2.UMat(pixels)
for i in range(5):
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    soft = cv2.GaussianBlur(grey, (5, 5), 1.0)
    small = cv2.resize(soft, (160, 120))
    edges = cv2.threshold(small, 100 + i, 255, cv2.THRESH_BINARY)[1]
    print(i, int(small.get().sum()), int(edges.get().sum()))
