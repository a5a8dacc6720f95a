# Rules about the source itself, as tests (ctest -L structure). They say the same in every build, so instrumented
# builds leave them out.
if(sanitized OR coverage)
  return()
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)

# fairlead_structure_test(<name> <command>...)
function(fairlead_structure_test name)
  add_test(NAME structure/${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(structure/${name} PROPERTIES LABELS structure TIMEOUT 120)
endfunction()

foreach(check rooms text names contracts dev commits sentences pages)
  fairlead_structure_test(${check} Python3::Interpreter tools/check_${check}.py)
  fairlead_structure_test(${check}_self_test Python3::Interpreter tools/check_${check}.py --self-test)
endforeach()

# What ./dev docs, ./dev bench and ./dev coverage are made with; the reference itself takes doxygen, and no test does.
foreach(tool check_docs doxygen_filter bench coverage redis_commands test_targets)
  fairlead_structure_test(${tool}_self_test Python3::Interpreter tools/${tool}.py --self-test)
endforeach()

# Rows of the failure catalogue that are open: gaps that are known. May only get shorter.
fairlead_structure_test(catalogue Python3::Interpreter tools/check_catalogue.py)
fairlead_structure_test(catalogue_self_test Python3::Interpreter tools/check_catalogue.py --self-test)

# Each row of the papers has a test or says where it is held, and docs/papers.md says which. None is open.
fairlead_structure_test(papers Python3::Interpreter tools/papers_table.py)
fairlead_structure_test(papers_self_test Python3::Interpreter tools/papers_table.py --self-test)

# The members of redis::command_set, and the table of typed commands, are those of the functions.
fairlead_structure_test(redis_members Python3::Interpreter tools/redis_members.py)
fairlead_structure_test(redis_members_self_test Python3::Interpreter tools/redis_members.py --self-test)

# The bugs that ./dev mutants plants still fit the code, and each stands in their list.
fairlead_structure_test(mutants_apply Python3::Interpreter tools/mutants.py --check)
fairlead_structure_test(mutants_self_test Python3::Interpreter tools/mutants.py --self-test)

set(object_list ${CMAKE_CURRENT_BINARY_DIR}/objects.txt)
set(objects "")
set(libraries fairlead fairlead_redis fairlead_redis_server fairlead_sim)
if(TARGET fairlead_tls)
  list(APPEND libraries fairlead_tls)
endif()
foreach(library IN LISTS libraries)
  get_target_property(type ${library} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endif()
endforeach()
file(GENERATE OUTPUT ${object_list} CONTENT "$<JOIN:${objects},\n>\n")
fairlead_structure_test(symbols Python3::Interpreter tools/check_symbols.py @${object_list})
fairlead_structure_test(symbols_self_test Python3::Interpreter tools/check_symbols.py --self-test ${CMAKE_CXX_COMPILER})

# Every public header compiles alone: where a source of the library or another header begins with it, it just has; the
# others are compiled here. The objects are made when the test runs: nothing else needs them.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/fairlead/*.hpp)
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/ OUTPUT_VARIABLE beginners)
foreach(source IN LISTS library_sources beginners)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} first REGEX "^ *# *(include|if)" LIMIT_COUNT 1)
  string(REGEX REPLACE "^#include <(.*)>.*" "\\1" first "${first}")
  list(REMOVE_ITEM headers "${first}")
endforeach()
set(header_sources "")
foreach(header IN LISTS headers)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>\n")
  list(APPEND header_sources ${source})
endforeach()
add_library(fairlead_headers OBJECT EXCLUDE_FROM_ALL ${header_sources})
fairlead_own_target(fairlead_headers)
target_compile_options(fairlead_headers PRIVATE -O0)
target_link_libraries(fairlead_headers PRIVATE fairlead)
fairlead_structure_test(headers_alone ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target fairlead_headers)
set_tests_properties(structure/headers_alone PROPERTIES TIMEOUT 900 COST 100 RESOURCE_LOCK build_tree)

# Code that must not compile, and the sentence that says why; for both compilers where both are there. What a compiler says
# is its own, so these run also where the other rules have been checked already, and have a label of their own.
fairlead_structure_test(must_fail_self_test Python3::Interpreter tests/compile/must_fail.py --self-test)
file(GLOB rejected CONFIGURE_DEPENDS compile/must_fail/*.cpp)
find_program(other_compiler NAMES clang++-19 clang++ NO_CACHE)
set(refusal -std=c++20 -Werror=unused-result -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/include/compat)
# fairlead_must_fail(<label> <compiler>): the standard headers are compiled once, for they take most of the time.
function(fairlead_must_fail label compiler)
  set(common ${CMAKE_CURRENT_BINARY_DIR}/${label}/common.hpp)
  fairlead_structure_test(${label}/standard_headers Python3::Interpreter tests/compile/must_fail.py --common ${common}
    include/fairlead ${compiler} ${refusal})
  set_tests_properties(structure/${label}/standard_headers PROPERTIES LABELS must_fail FIXTURES_SETUP ${label})
  fairlead_structure_test(${label}/good_forms Python3::Interpreter tests/compile/must_fail.py
    --good tests/compile/must_fail ${compiler} ${refusal})
  set_tests_properties(structure/${label}/good_forms PROPERTIES LABELS must_fail)
  foreach(source IN LISTS rejected)
    cmake_path(GET source STEM name)
    fairlead_structure_test(${label}/${name} Python3::Interpreter tests/compile/must_fail.py ${source}
      ${compiler} ${refusal} -include ${common})
    set_tests_properties(structure/${label}/${name} PROPERTIES LABELS must_fail FIXTURES_REQUIRED ${label})
  endforeach()
endfunction()
fairlead_must_fail(must_fail ${CMAKE_CXX_COMPILER})
if(other_compiler AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  fairlead_must_fail(must_fail_clang ${other_compiler})
endif()

# The installed package, moved away from where it was installed, serves find_package and pkg-config.
add_test(NAME package COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/package/run
  ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/package ${CMAKE_CXX_COMPILER})
set_tests_properties(package PROPERTIES LABELS package TIMEOUT 1200 COST 200) # first, so that it is not the last to end
