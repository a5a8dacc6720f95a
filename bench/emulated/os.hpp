// The emulated operating system of P0162R0 §4.2: a C-like interface whose operations cost next to nothing, so that what
// is measured is the wrapping. An operation completes when it is its turn and somebody triggers it.
#pragma once

struct os_context {
    os_context* next;
};
using os_callback = void (*)(int result, os_context*);

/// The one function that is called with each operation that completes.
void os_associate_completion_callback(os_callback);
/// Completes the operation that was started first.
void os_trigger_completion();
/// Starts one.
void os_xyz(int param, os_context*);
