# What the benchmarks compare with, and how a program is told as skipped where that is missing.
find_path(asio_include asio.hpp PATHS /usr/include DOC "Asio as the distribution packs it, for comparison")
set(FAIRLEAD_PEERS "" CACHE PATH "What tools/peers.sh has unpacked: newer libraries, for comparison")

# What is missing is said where tools/bench.py finds it, and shows it in place of figures.
function(bench_skipped target reason)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${target}.skipped "${reason}\n")
endfunction()

set(peers_include ${FAIRLEAD_PEERS}/usr/include)
set(no_peers "the packages of Debian 13 are not there (tools/peers.sh)")
if(NOT FAIRLEAD_PEERS)
  set(peers_include ${PROJECT_BINARY_DIR}/no-peers)
elseif(EXISTS ${FAIRLEAD_PEERS}/why)
  file(STRINGS ${FAIRLEAD_PEERS}/why no_peers LIMIT_COUNT 1)
endif()

# bench_peer(<target> <source> <include folder> <file in it that must exist> <why it may be missing>)
function(bench_peer target source include needed reason)
  if(NOT EXISTS ${include}/${needed})
    bench_skipped(${target} "${reason}")
    return()
  endif()
  add_executable(${target} ${source})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${include})
  target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()

# Boost.Cobalt has no package; its few sources are compiled here.
if(NOT TARGET peer_cobalt AND EXISTS ${FAIRLEAD_PEERS}/cobalt/src/channel.cpp)
  file(GLOB cobalt_sources ${FAIRLEAD_PEERS}/cobalt/src/*.cpp ${FAIRLEAD_PEERS}/cobalt/src/detail/*.cpp)
  list(FILTER cobalt_sources EXCLUDE REGEX "/(main|thread)\\.cpp$") # neither is used
  add_library(peer_cobalt STATIC ${cobalt_sources})
  target_compile_features(peer_cobalt PUBLIC cxx_std_20)
  target_compile_options(peer_cobalt PRIVATE -w)
  target_compile_definitions(peer_cobalt PUBLIC BOOST_COBALT_USE_STD_PMR=1 BOOST_COBALT_STATIC_LINK=1
    PRIVATE BOOST_COBALT_SOURCE=1)
  target_include_directories(peer_cobalt SYSTEM PUBLIC ${peers_include})
endif()
