/* SPDX-License-Identifier: MIT */
/*
 * Makes functions that differ only in a number (in hexadecimal). A function that replaces another
 * one in a library's table has to know which one it replaced, and C has no closures.
 */
#ifndef PROBES_IMPORTS_ALIKE_H
#define PROBES_IMPORTS_ALIKE_H

#define ALIKE_16(X, n) \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) \
	X(n##8) X(n##9) X(n##a) X(n##b) X(n##c) X(n##d) X(n##e) X(n##f)
#define ALIKE_256(X) \
	ALIKE_16(X, 0) ALIKE_16(X, 1) ALIKE_16(X, 2) ALIKE_16(X, 3) \
	ALIKE_16(X, 4) ALIKE_16(X, 5) ALIKE_16(X, 6) ALIKE_16(X, 7) \
	ALIKE_16(X, 8) ALIKE_16(X, 9) ALIKE_16(X, a) ALIKE_16(X, b) \
	ALIKE_16(X, c) ALIKE_16(X, d) ALIKE_16(X, e) ALIKE_16(X, f)

#endif
