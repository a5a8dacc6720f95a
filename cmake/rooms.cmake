# How our targets are made. A room is a folder of src/ and of include/fairlead/; which room may include which is
# in tools/rooms.toml, and tools/check_rooms.py holds it.

# Language level and warnings: for every target of this project, never for its users.
function(fairlead_own_target target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(FAIRLEAD_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage) # It takes a source that is included for a header.
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # These depend on what the optimiser happens to inline, and g++ 12 reports them inside std::string and for replaced
    # operators new. They are shown, but never fatal; with instrumentation they are noise.
    foreach(warning stringop-overflow stringop-overread array-bounds restrict maybe-uninitialized mismatched-new-delete)
      if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        target_compile_options(${target} PRIVATE -Wno-${warning})
      elseif(FAIRLEAD_WERROR)
        target_compile_options(${target} PRIVATE -Wno-error=${warning})
      endif()
    endforeach()
  endif()
endfunction()

# What is not optimised compiles in half the time. Without optimisation g++ calls std::move and std::forward, unless it is
# told not to; clang never does.
set(fairlead_not_optimized -O0 -g0 $<$<CXX_COMPILER_ID:GNU>:-ffold-simple-inlines>)
function(fairlead_not_optimized target)
  target_compile_options(${target} PRIVATE ${fairlead_not_optimized})
endfunction()

# fairlead_library(<target> [EXPORT_NAME <name>] ROOMS <room>...)
# Makes <target> and its alias fairlead::<name>. Rooms without sources make it an INTERFACE library; <target>_scope is
# what a caller passes to target_link_libraries.
function(fairlead_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORT_NAME" "ROOMS")
  if(NOT arg_EXPORT_NAME)
    set(arg_EXPORT_NAME ${target})
  endif()
  list(TRANSFORM arg_ROOMS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/\\1/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(sources)
    set(scope PUBLIC)
    add_library(${target} ${sources})
    fairlead_own_target(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH "$ORIGIN" # Our libraries find one another wherever they are put.
      CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(fairlead::${arg_EXPORT_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_EXPORT_NAME})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set(${target}_scope ${scope} PARENT_SCOPE)
endfunction()

# fairlead_programs(<folder> PREFIX <prefix>)
# Every <folder>/<name>.cpp is a program <prefix><name> of its own, linked with all our libraries; an ending _bench is
# dropped. One that includes Google Benchmark is left out where that is not installed.
function(fairlead_programs folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_bench$" "" name ${name})
    set(target ${arg_PREFIX}${name})
    set(libraries fairlead_redis_server fairlead_redis fairlead_sim fairlead)
    file(STRINGS ${source} tls REGEX "^#include <fairlead/tls/")
    if(tls)
      if(NOT TARGET fairlead_tls)
        continue()
      endif()
      list(PREPEND libraries fairlead_tls)
    endif()
    file(STRINGS ${source} google_benchmark REGEX "^#include <benchmark/benchmark.h>")
    if(google_benchmark)
      find_package(benchmark QUIET)
      if(NOT benchmark_FOUND)
        message(STATUS "fairlead: ${target} needs libbenchmark-dev; left out")
        continue()
      endif()
      list(APPEND libraries benchmark::benchmark)
    endif()
    add_executable(${target} ${source})
    fairlead_own_target(${target})
    target_link_libraries(${target} PRIVATE ${libraries})
    if(FAIRLEAD_QUICK_BUILD)
      fairlead_not_optimized(${target})
    endif()
  endforeach()
endfunction()

# fairlead_program_tests(<folder> PREFIX <prefix>)
# A program is a test for each line "// Run as a test: [arguments]" of its source; it must end by itself with status 0.
function(fairlead_program_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    if(NOT TARGET ${arg_PREFIX}${name}) # It needs what is not installed.
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^// Run as a test:")
    set(test ${folder}/${name})
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^// Run as a test: *" "" arguments "${line}")
      separate_arguments(arguments UNIX_COMMAND "${arguments}")
      add_test(NAME ${test} COMMAND ${arg_PREFIX}${name} ${arguments})
      set_tests_properties(${test} PROPERTIES LABELS ${folder} TIMEOUT ${test_timeout})
      set(test ${test}_again)
    endforeach()
  endforeach()
endfunction()
