# A relocatable package: nothing in it names the prefix, so the tree can be moved after it was installed.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fairlead)

set(installed fairlead fairlead_redis fairlead_redis_server fairlead_sim)
if(TARGET fairlead_asio_compat)
  list(APPEND installed fairlead_asio_compat)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fairlead/compat)
endif()
install(TARGETS ${installed} EXPORT fairlead-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fairlead DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(EXPORT fairlead-targets NAMESPACE fairlead:: DESTINATION ${package_dir})
if(TARGET fairlead_tls) # Apart: programs without TLS need no OpenSSL.
  install(TARGETS fairlead_tls EXPORT fairlead-tls-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT fairlead-tls-targets NAMESPACE fairlead:: DESTINATION ${package_dir})
endif()

if(TARGET fairlead-redis)
  install(TARGETS fairlead-redis RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fairlead-config.cmake.in
  ${PROJECT_BINARY_DIR}/fairlead-config.cmake INSTALL_DESTINATION ${package_dir})
# Until 1.0 every minor version may break what was built against the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fairlead-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fairlead-config.cmake ${PROJECT_BINARY_DIR}/fairlead-config-version.cmake
  DESTINATION ${package_dir})

set(pkgconfig_definitions "")
if(FAIRLEAD_BOOST_ERROR_CODE)
  set(pkgconfig_definitions " -DFAIRLEAD_BOOST_ERROR_CODE=1")
endif()

# fairlead_pkgconfig(<target> <description> <requires>)
function(fairlead_pkgconfig target description requires)
  string(REPLACE "_" "-" name ${target})
  # From the folder of the .pc file up to the prefix, so that pkg-config finds the prefix wherever it was moved.
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  get_target_property(type ${target} TYPE)
  set(libs "-pthread")
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set(libs "-L\${libdir} -l${target} ${libs}")
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@up@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @requires@
Cflags: -I${includedir} -pthread@pkgconfig_definitions@
Libs: @libs@
]])
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

fairlead_pkgconfig(fairlead "${PROJECT_DESCRIPTION}" "")
fairlead_pkgconfig(fairlead_redis "Redis client on Fairlead" "fairlead = ${PROJECT_VERSION}")
fairlead_pkgconfig(fairlead_redis_server "Redis server inside a program, for tests" "fairlead-redis = ${PROJECT_VERSION}")
if(TARGET fairlead_tls)
  fairlead_pkgconfig(fairlead_tls "TLS for streams of Fairlead" "fairlead = ${PROJECT_VERSION}, openssl >= 3")
endif()
fairlead_pkgconfig(fairlead_sim "Deterministic simulator for programs on Fairlead" "fairlead = ${PROJECT_VERSION}")
