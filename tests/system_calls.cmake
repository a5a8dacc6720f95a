# How many system calls an echoed message takes, counted by strace. Sanitizers do not change what is called, so one
# build without them is enough.
if(sanitized)
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_executable(system_calls_echo system_calls/echo.cpp)
fairlead_own_target(system_calls_echo)
fairlead_test_is_not_optimized(system_calls_echo)
target_link_libraries(system_calls_echo PRIVATE fairlead)
add_test(NAME system_calls/echo
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/system_calls/check.py $<TARGET_FILE:system_calls_echo>)
set_tests_properties(system_calls/echo PROPERTIES LABELS system_calls TIMEOUT 120 SKIP_RETURN_CODE 77)

# One buffer goes to the system as one, not as a list. Named after the row of the papers.
add_executable(system_calls_buffers system_calls/buffers.cpp)
fairlead_own_target(system_calls_buffers)
fairlead_test_is_not_optimized(system_calls_buffers)
target_link_libraries(system_calls_buffers PRIVATE fairlead)
add_test(NAME papers/C02_one_buffer_is_no_list
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/system_calls/one_buffer.py
  $<TARGET_FILE:system_calls_buffers>)
set_tests_properties(papers/C02_one_buffer_is_no_list
  PROPERTIES LABELS system_calls TIMEOUT 120 SKIP_RETURN_CODE 77)

# System calls that fail: strace fails them, a program of ours says what it saw. Named after the row of the catalogue.
add_executable(system_calls_faults system_calls/faults.cpp)
fairlead_own_target(system_calls_faults)
fairlead_test_is_not_optimized(system_calls_faults)
target_link_libraries(system_calls_faults PRIVATE fairlead test_count_at_end)
function(fairlead_injection_test group)
  add_test(NAME system_calls/${group} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/system_calls/inject.py
    $<TARGET_FILE:system_calls_faults> ${group})
  set_tests_properties(system_calls/${group} PROPERTIES LABELS system_calls TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()
fairlead_injection_test(I03_interrupted)
fairlead_injection_test(I04_not_ready_after_all)
fairlead_injection_test(R03_no_buffers)
fairlead_injection_test(E06_not_watched)
fairlead_injection_test(R02_no_descriptors)
fairlead_injection_test(R08_no_threads)
fairlead_injection_test(I10_codes_are_kept)
fairlead_injection_test(I12_acceptor_lives)
fairlead_injection_test(E08_no_precise_waiting)
fairlead_injection_test(E08_waiting_is_refused)
fairlead_injection_test(E08_waking_is_refused)
