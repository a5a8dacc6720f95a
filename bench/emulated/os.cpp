#include "os.hpp"

namespace {

os_callback callback;
os_context* head;
os_context** tail = &head;

} // namespace

void os_associate_completion_callback(os_callback c) { callback = c; }
void os_trigger_completion() {
    os_context* const c = head;
    head = c->next;
    if (!head)
        tail = &head;
    callback(0, c);
}
void os_xyz(int, os_context* c) {
    c->next = nullptr;
    *tail = c;
    tail = &c->next;
}
