# What the papers compare by time, counted in instructions by callgrind: the same on every computer. Only optimised
# builds without sanitizers are comparable. Named after the rows of the papers
# where they hold one: that a post costs little more with default memory is a budget, and more than the paper's 1.02.
if(sanitized OR NOT CMAKE_BUILD_TYPE MATCHES "Rel" OR coverage OR FAIRLEAD_BOOST_ERROR_CODE)
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_executable(instructions_operations instructions/operations.cpp)
fairlead_own_target(instructions_operations)
target_link_libraries(instructions_operations PRIVATE fairlead)
target_link_options(instructions_operations PRIVATE -Wl,--strip-debug) # Debian 12's valgrind cannot read clang 19's.
add_executable(instructions_repeats instructions/repeats.cpp)
fairlead_own_target(instructions_repeats)
target_link_libraries(instructions_repeats PRIVATE fairlead)
target_link_options(instructions_repeats PRIVATE -Wl,--strip-debug)
add_executable(instructions_erased instructions/erased.cpp)
fairlead_own_target(instructions_erased)
target_link_libraries(instructions_erased PRIVATE fairlead)
target_link_options(instructions_erased PRIVATE -Wl,--strip-debug)
add_executable(instructions_limits instructions/limits.cpp)
fairlead_own_target(instructions_limits)
target_link_libraries(instructions_limits PRIVATE fairlead)
target_link_options(instructions_limits PRIVATE -Wl,--strip-debug)
add_executable(instructions_groups instructions/groups.cpp)
fairlead_own_target(instructions_groups)
target_link_libraries(instructions_groups PRIVATE fairlead)
target_link_options(instructions_groups PRIVATE -Wl,--strip-debug)
add_executable(instructions_generators instructions/generators.cpp)
fairlead_own_target(instructions_generators)
target_link_libraries(instructions_generators PRIVATE fairlead)
target_link_options(instructions_generators PRIVATE -Wl,--strip-debug)
add_executable(instructions_forms instructions/forms.cpp)
fairlead_own_target(instructions_forms)
target_link_libraries(instructions_forms PRIVATE fairlead)
target_link_options(instructions_forms PRIVATE -Wl,--strip-debug)
add_executable(instructions_every_operation instructions/every_operation.cpp)
fairlead_own_target(instructions_every_operation)
target_include_directories(instructions_every_operation PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(instructions_every_operation PRIVATE fairlead)
target_link_options(instructions_every_operation PRIVATE -Wl,--strip-debug)
add_executable(instructions_copies instructions/copies.cpp)
fairlead_own_target(instructions_copies)
target_link_libraries(instructions_copies PRIVATE fairlead)
target_link_options(instructions_copies PRIVATE -Wl,--strip-debug)
add_executable(instructions_redis_calls instructions/redis_calls.cpp)
fairlead_own_target(instructions_redis_calls)
target_link_libraries(instructions_redis_calls PRIVATE fairlead_redis fairlead)
target_link_options(instructions_redis_calls PRIVATE -Wl,--strip-debug)
# The program of P0162R0 §4, as BM-1 times it.
set(emulated ${PROJECT_SOURCE_DIR}/bench/emulated)
add_library(instructions_os SHARED ${emulated}/os.cpp)
fairlead_own_target(instructions_os)
add_executable(instructions_emulated ${emulated}/library.cpp)
fairlead_own_target(instructions_emulated)
target_link_libraries(instructions_emulated PRIVATE fairlead_asio_compat instructions_os)
target_compile_options(instructions_emulated PRIVATE -O3 -DNDEBUG) # as users build
target_link_options(instructions_emulated PRIVATE -Wl,--strip-debug)
set(count Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/instructions/count.py)
add_test(NAME papers/A13_default_memory_takes_as_many_instructions_as_custom_memory COMMAND ${count}
  $<TARGET_FILE:instructions_emulated> A13)
add_test(NAME instructions/default_memory_costs_a_post_little_more COMMAND ${count} $<TARGET_FILE:instructions_operations>
  post)
add_test(NAME instructions/a_sender_that_is_repeated_takes_1_25_times_its_coroutine COMMAND ${count}
  $<TARGET_FILE:instructions_repeats> repeated)
add_test(NAME instructions/any_stream_costs_little_more_than_its_socket COMMAND ${count}
  $<TARGET_FILE:instructions_erased> any)
add_test(NAME instructions/limit_around_a_read_costs_little COMMAND ${count} $<TARGET_FILE:instructions_limits> limit)
add_test(NAME instructions/slot_of_a_read_costs_little COMMAND ${count} $<TARGET_FILE:instructions_limits> slot)
add_test(NAME instructions/stop_token_of_a_read_costs_little COMMAND ${count} $<TARGET_FILE:instructions_limits> stop)
add_test(NAME instructions/read_that_can_be_asked_costs_little_more COMMAND ${count} $<TARGET_FILE:instructions_limits> asked)
add_test(NAME instructions/read_until_costs_little_more_than_its_search COMMAND ${count} $<TARGET_FILE:instructions_forms>
  until)
add_test(NAME instructions/group_costs_little_more_than_its_operations COMMAND ${count} $<TARGET_FILE:instructions_groups>
  group)
add_test(NAME instructions/value_of_a_generator_costs_less_than_a_call COMMAND ${count}
  $<TARGET_FILE:instructions_generators> next)
add_test(NAME instructions/redis_call_that_nobody_looks_at_costs_nothing_more COMMAND ${count}
  $<TARGET_FILE:instructions_redis_calls> redis)
add_test(NAME papers/C04_errno_is_left_alone COMMAND ${count} $<TARGET_FILE:instructions_operations> C04)
add_test(NAME papers/B07_starting_takes_no_atomic_operation COMMAND ${count} $<TARGET_FILE:instructions_operations> B07)
add_test(NAME papers/C03_copies_of_an_executor_take_no_atomic_operation COMMAND ${count}
  $<TARGET_FILE:instructions_copies> C03)
set_tests_properties(papers/A13_default_memory_takes_as_many_instructions_as_custom_memory
  instructions/default_memory_costs_a_post_little_more instructions/any_stream_costs_little_more_than_its_socket
  instructions/limit_around_a_read_costs_little
  instructions/slot_of_a_read_costs_little instructions/stop_token_of_a_read_costs_little
  instructions/read_that_can_be_asked_costs_little_more
  instructions/group_costs_little_more_than_its_operations
  instructions/value_of_a_generator_costs_less_than_a_call instructions/redis_call_that_nobody_looks_at_costs_nothing_more
  instructions/read_until_costs_little_more_than_its_search papers/C04_errno_is_left_alone
  papers/B07_starting_takes_no_atomic_operation papers/C03_copies_of_an_executor_take_no_atomic_operation PROPERTIES LABELS instructions TIMEOUT 300 SKIP_RETURN_CODE 77)
