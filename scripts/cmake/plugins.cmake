# What plug-ins outside of this source need (docs/plugins.md): the headers of their interfaces, with a hash that names them.

# Headers are found: those of registries, and all that they include.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/*.cpp)
set(queue core/external_plugins.cpp)
foreach(source IN LISTS sources)
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${source} found REGEX "^#include \"core/registry.inc\"" LIMIT_COUNT 1)
  if(found)
    list(APPEND queue ${source})
  endif()
endforeach()
set(SCREE_INTERFACE_HEADERS)
while(queue)
  list(POP_FRONT queue file)
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${file} lines REGEX "^ *# *include \"[^\"]+\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ".*\"(.+)\".*" "\\1" header ${line})
    if(header MATCHES "\\.hpp$|/fields\\.def$" AND NOT header IN_LIST SCREE_INTERFACE_HEADERS)
      list(APPEND SCREE_INTERFACE_HEADERS ${header})
      list(APPEND queue ${header})
    endif()
  endforeach()
endwhile()
list(SORT SCREE_INTERFACE_HEADERS)

# A shared object fits programs with the same headers, compiled alike; CMake runs again when one of them changes.
set(content "${PROJECT_VERSION} asserts ${SCREE_ASSERTS}")
foreach(header IN LISTS SCREE_INTERFACE_HEADERS)
  file(SHA256 ${PROJECT_SOURCE_DIR}/src/${header} hash)
  string(APPEND content " ${header} ${hash}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
endforeach()
string(SHA256 hash "${content}")
string(SUBSTRING ${hash} 0 12 hash)
string(REPLACE "." "_" version ${PROJECT_VERSION})
set(SCREE_INTERFACE_FOLDER ${PROJECT_BINARY_DIR}/interface)
file(CONFIGURE OUTPUT ${SCREE_INTERFACE_FOLDER}/scree_interface.hpp @ONLY NEWLINE_STYLE UNIX CONTENT
"#pragma once
// Version and headers that a plug-in is compiled with: core/plugin_interface.hpp.
#define SCREE_INTERFACE_HASH @version@_@hash@
")

# The installed target scree::core. No library: a plug-in finds all it calls in the program that loads it.
add_library(scree_plugin_interface INTERFACE)
set_target_properties(scree_plugin_interface PROPERTIES EXPORT_NAME core)
target_include_directories(scree_plugin_interface INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/scree>)
target_compile_features(scree_plugin_interface INTERFACE cxx_std_20)
target_compile_options(scree_plugin_interface INTERFACE -ffp-contract=off)
target_compile_definitions(scree_plugin_interface INTERFACE SCREE_EXTERNAL_PLUGIN $<$<BOOL:${SCREE_ASSERTS}>:SCREE_ASSERTS>)
target_link_libraries(scree_plugin_interface INTERFACE MPI::MPI_CXX fmt::fmt)
