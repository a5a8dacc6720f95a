// Ending one operation early: types, signals and slots, and how a handler gets a slot.
#pragma once

#include <fairlead/exec/cancellation_type.hpp>
#include <fairlead/operation/associated.hpp>
#include <fairlead/operation/cancellation_signal.hpp>
#include <fairlead/operation/cancellation_state.hpp>
#include <fairlead/token/bind_cancellation_slot.hpp>
