// Durations, points in time and clocks of <chrono>. The rest of it, calendars and their text, takes five times as long
// to compile, and no header needs that.
#pragma once

#if __has_include(<bits/chrono.h>) // libstdc++ from version 12 on
#include <bits/chrono.h>
#else
#include <chrono>
#endif
