// The library as a Python module without anything in it: `ctypes` calls its functions, and needs no ABI of Python's or
// torch's. As a module it is built, packed and found by the ordinary tools.
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "instruction_set.h"

// Raised whenever a function changes its arguments; `envs/native/native_library.py` has the same number.
CELLGAMES_EXPORT int64_t cellgames_native_interface() { return 22; }

// Use no more than this instruction set from now on, as far as functions are built for several; return which is used.
CELLGAMES_EXPORT int64_t cellgames_instruction_set(int64_t most) {
    cellgames::most_instructions() = most;
    return cellgames::instruction_set();
}

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_library", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__library() { return PyModule_Create(&module); }
