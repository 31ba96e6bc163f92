// The library as a Python module without anything in it: `ctypes` calls its functions, and needs no ABI of Python's or
// torch's. As a module it is built, packed and found by the ordinary tools.
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "portable.h"

// Raised whenever a function changes its arguments; `envs/native/native_library.py` has the same number.
CELLGAMES_EXPORT int64_t cellgames_native_interface() { return 4; }

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_library", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__library() { return PyModule_Create(&module); }
