# Examples and the programs of README.md where production is: few descriptors, a port in use, a peer that resets, no server.

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

# README's programs are compiled as they stand there; the port and the address are the environment's, so that tests choose.
# fairlead_readme_program(<target> <heading> <what stands there> <what a test puts in its place>)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md)
function(fairlead_readme_program target heading there here)
  file(READ ${PROJECT_SOURCE_DIR}/README.md text)
  set(opening "\n## ${heading}\n\n```cpp\n")
  string(FIND "${text}" "${opening}" begin)
  string(LENGTH "${opening}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n```\n" end)
  string(SUBSTRING "${text}" 0 ${end} program)
  string(FIND "${program}" "${there}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "README.md: below \"${heading}\" there is no program with ${there}")
  endif()
  string(REPLACE "${there}" "${here}" program "${program}")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <cstdlib>\n@program@\n" @ONLY)
  add_executable(${target} ${source})
  fairlead_own_target(${target})
  fairlead_test_is_not_optimized(${target})
  target_link_libraries(${target} PRIVATE fairlead_redis fairlead)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${programs})
endfunction()

if(FAIRLEAD_BUILD_EXAMPLES)
  get_target_property(programs example_echo_server RUNTIME_OUTPUT_DIRECTORY)
  if(NOT programs)
    get_target_property(programs example_echo_server BINARY_DIR)
  endif()
  fairlead_readme_program(readme_echo "An echo server" "7777"
    "static_cast<unsigned short>(std::atoi(std::getenv(\"PORT\")))")
  fairlead_readme_program(readme_redis "A Redis client" "\"127.0.0.1:6379\"" "std::getenv(\"ADDRESS\")")
  set(cases X15_port_in_use X15_peer_resets X15_no_server)
  if(NOT sanitized) # A sanitizer opens pipes to see whether memory may be read, and reports it where there are none left.
    list(APPEND cases X15_few_descriptors)
  endif()
  foreach(case IN LISTS cases)
    add_test(NAME system_calls/${case} COMMAND Python3::Interpreter
      ${CMAKE_CURRENT_SOURCE_DIR}/system_calls/programs.py ${programs} ${case})
    set_tests_properties(system_calls/${case} PROPERTIES LABELS system_calls TIMEOUT 300
      RESOURCE_LOCK free_ports) # a port that one has found free is not the next one's
  endforeach()
  # Scripts in Lua need a real server; each program ends with a status that says whether all was as it claims.
  foreach(name redis_lock redis_limiter)
    add_test(NAME examples/${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/interop/with_redis.py
      $<TARGET_FILE:example_${name}>)
    set_tests_properties(examples/${name} PROPERTIES LABELS examples TIMEOUT ${test_timeout} SKIP_RETURN_CODE 77
      RESOURCE_LOCK free_ports)
  endforeach()
endif()
