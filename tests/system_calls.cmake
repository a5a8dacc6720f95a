# How many system calls an echoed message takes, counted by strace. Sanitizers do not change that, so once is enough.
if(sanitized)
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_executable(system_calls_echo system_calls/echo.cpp)
fairlead_own_target(system_calls_echo)
target_link_libraries(system_calls_echo PRIVATE fairlead)
add_test(NAME system_calls/echo
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/system_calls/check.py $<TARGET_FILE:system_calls_echo>)
set_tests_properties(system_calls/echo PROPERTIES LABELS system_calls TIMEOUT 120 SKIP_RETURN_CODE 77)
