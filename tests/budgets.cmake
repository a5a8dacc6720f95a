# The figures of bench/budgets.tsv, which say what operations, frames and headers may cost. They are those of the
# optimised builds; tools/budgets.py skips compilers that the table has no column for.
if(sanitized OR NOT CMAKE_BUILD_TYPE MATCHES "Rel" OR coverage OR FAIRLEAD_BOOST_ERROR_CODE)
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
add_executable(budgets_frames budgets/frames.cpp)
fairlead_own_target(budgets_frames)
target_include_directories(budgets_frames PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(budgets_frames PRIVATE fairlead)
function(fairlead_budget_test name)
  add_test(NAME budgets/${name} COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/budgets.py
    ${PROJECT_BINARY_DIR} ${ARGN})
  set_tests_properties(budgets/${name} PROPERTIES LABELS budgets TIMEOUT 600 SKIP_RETURN_CODE 77)
endfunction()
fairlead_budget_test(operations instructions allocations)
fairlead_budget_test(forms form_instructions form_blocks)
fairlead_budget_test(every_operation operation_instructions operation_blocks)
fairlead_budget_test(frames frame_bytes)
fairlead_budget_test(headers header_kib)
set_tests_properties(budgets/operations budgets/forms budgets/every_operation PROPERTIES COST 50) # takes long: not to be the last to end
fairlead_structure_test(budgets_self_test Python3::Interpreter tools/budgets.py --self-test)
