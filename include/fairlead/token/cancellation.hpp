// Ending one operation early: types, signals and slots, and how a handler gets a slot.
#pragma once

#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/token/associated.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
#include <fairlead/token/cancellation_signal.hpp>
#include <fairlead/token/cancellation_state.hpp>
