option(SCREE_QUICK_BUILD "precompile common headers; compile small files together; -O1 for what runs once" ON)

# ccache, where it is installed, saves compiling again what has not changed (apt install ccache). It keeps objects made
# with precompiled headers only if it may take their macros and times for granted.
set(scree_ccache_settings)
if(SCREE_QUICK_BUILD)
  set(scree_ccache_settings env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
endif()
find_program(SCREE_CCACHE ccache)
foreach(language C CXX)
  if(SCREE_CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${scree_ccache_settings} ${SCREE_CCACHE})
  endif()
endforeach()

# Flags every scree target gets.
# -fmacro-prefix-map: messages name src/..., and programs hold no path of the machine that built them.
# -ffp-contract=off: a fused multiply-add rounds once where two operations round twice, so letting the
# compiler choose would make results depend on the instruction set. Bitwise identity is a promise here.
add_library(scree_flags INTERFACE)
target_compile_options(scree_flags INTERFACE
  -ffp-contract=off -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual $<$<BOOL:${SCREE_WERROR}>:-Werror>)
# GCC 12 reports std::string concatenation as overlapping memcpy (GCC bug 105651).
target_compile_options(scree_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_definitions(scree_flags INTERFACE $<$<BOOL:${SCREE_ASSERTS}>:SCREE_ASSERTS>)
target_include_directories(scree_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
if(SCREE_SANITIZE)
  # -g1: reports need lines, no variables; more takes long to write.
  target_compile_options(scree_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                                               -fno-sanitize-recover=undefined -g1)
  target_link_options(scree_flags INTERFACE -fsanitize=address,undefined)
endif()

if(SCREE_FUZZ)
  target_compile_options(scree_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
                                               -fno-sanitize-recover=undefined)
  target_link_options(scree_flags INTERFACE -fsanitize=address,undefined)
endif()

# What runs once: -O1 saves 15 to 45 % of its compile time. It is linked behind what is optimized (scree_program): of
# functions that both hold the linker takes the first. Results do not depend on it. Not for step loops, solvers, large files.
set(scree_runs_once)
if(SCREE_QUICK_BUILD)
  set(scree_runs_once "$<$<CONFIG:Release>:-O1>")
endif()

# Headers of nearly every file, compiled once: standard library, fmt, MPI. None of our own: they change too often.
# scree_use_headers(target [of]) is for targets that link scree_core and have no flags of an instruction set; `of` is another
# target of scree_precompile, which brings more headers.
set(scree_common_headers <fmt/format.h> <mpi.h> <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <limits>
    <map> <memory> <numbers> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <tuple> <utility> <variant>
    <vector>)
function(scree_precompile name)
  if(SCREE_QUICK_BUILD AND NOT TARGET ${name})
    file(WRITE ${PROJECT_BINARY_DIR}/${name}.cpp "")
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
    target_link_libraries(${name} PRIVATE scree_flags MPI::MPI_CXX fmt::fmt)
    target_precompile_headers(${name} PRIVATE ${scree_common_headers} ${ARGN})
  endif()
endfunction()
function(scree_use_headers target)
  if(NOT SCREE_QUICK_BUILD)
    return()
  endif()
  set(of scree_headers ${ARGN})
  list(GET of -1 of)
  scree_precompile(scree_headers)
  target_precompile_headers(${target} REUSE_FROM ${of})
  # After precompiled headers GCC 12 takes short strings that are moved for too small.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow>")
endfunction()

# scree_group(limit sources...): what is compiled together: whole folders up to `limit` bytes of code, larger folders in parts
# of about equal size.
function(scree_group limit)
  set(all)
  set(folders)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND all ${source})
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(unit 0)
  set(in_unit 0)
  foreach(folder IN LISTS folders)
    set(sources)
    set(in_folder 0)
    foreach(source IN LISTS all)
      cmake_path(GET source PARENT_PATH its_folder)
      if(its_folder STREQUAL folder)
        file(SIZE ${source} size)
        list(APPEND sources ${source})
        math(EXPR in_folder "${in_folder} + ${size}")
      endif()
    endforeach()
    math(EXPR end "${in_unit} + ${in_folder}")
    if(end GREATER limit)
      math(EXPR unit "${unit} + 1")
      set(in_unit 0)
    endif()
    math(EXPR part "${in_folder} / (${in_folder} / ${limit} + 1)")
    foreach(source IN LISTS sources)
      file(SIZE ${source} size)
      math(EXPR middle "${in_unit} + ${size} / 2")
      if(in_folder GREATER limit AND middle GREATER part)
        math(EXPR unit "${unit} + 1")
        set(in_unit 0)
      endif()
      math(EXPR in_unit "${in_unit} + ${size}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
    endforeach()
  endforeach()
endfunction()

# scree_library(name [RUNS_ONCE] [TOGETHER bytes] [SOURCES files...] LINK targets... PRIVATE targets...): one static library per
# folder of src/, of all sources in it (plug-ins are found, not listed) but those that are compiled once per instruction set.
# TOGETHER: a quick build with GCC compiles as many files at a time (scree_group; Clang warns of names in other files), so names in
# their anonymous namespaces must differ.
function(scree_library name)
  cmake_parse_arguments(A "RUNS_ONCE" "TOGETHER" "SOURCES;LINK;PRIVATE" ${ARGN})
  if(NOT A_SOURCES)
    file(GLOB_RECURSE A_SOURCES CONFIGURE_DEPENDS *.cpp)
    list(FILTER A_SOURCES EXCLUDE REGEX "_set\\.cpp$")
  endif()
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC scree_flags ${A_LINK} PRIVATE ${A_PRIVATE})
  if(A_RUNS_ONCE)
    target_compile_options(${name} PRIVATE ${scree_runs_once})
  endif()
  if(A_TOGETHER AND SCREE_QUICK_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    scree_group(${A_TOGETHER} ${A_SOURCES})
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)  # GCC takes the files for headers of one that includes them
  endif()
  scree_use_headers(${name})
endfunction()

# scree_program(name sources... LINK targets... [HEADERS target]): a program; its own sources run once, after the headers of
# scree_use_headers. It holds all of the libraries that plug-ins of others may call, and exports them, but no functions of other
# libraries that it compiled for one instruction set.
function(scree_program name)
  cmake_parse_arguments(A "" "HEADERS" "LINK" ${ARGN})
  add_executable(${name} ${A_UNPARSED_ARGUMENTS})
  foreach(library geometry particles comm contact state neighbors friction schemes events crowd analysis core)
    if(TARGET scree_${library})  # crowd may be left out
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:scree_${library}>)
    endif()
  endforeach()
  target_link_options(${name} PRIVATE LINKER:--dynamic-list=${PROJECT_SOURCE_DIR}/scripts/cmake/exported-symbols.txt)
  target_link_libraries(${name} PRIVATE ${A_LINK})
  target_compile_options(${name} PRIVATE ${scree_runs_once})
  scree_use_headers(${name} ${A_HEADERS})
endfunction()

# scree_kernel_sets(library sets... SOURCES files... LINK targets...): adds the sources to the library once per
# instruction set, "portable" always; which one runs is chosen when the program starts.
set(scree_flags_of_portable)
set(scree_flags_of_avx2 -mavx2)
set(scree_flags_of_avx512 -mavx512f -mavx512dq -mavx512vl -mprefer-vector-width=512)
function(scree_kernel_sets library)
  cmake_parse_arguments(A "" "" "SOURCES;LINK" ${ARGN})
  set(sets portable)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND sets ${A_UNPARSED_ARGUMENTS})
    target_compile_definitions(${library} PRIVATE SCREE_WIDE_KERNELS)
  endif()
  foreach(set IN LISTS sets)
    add_library(${library}_${set} OBJECT ${A_SOURCES})
    target_link_libraries(${library}_${set} PRIVATE scree_flags ${A_LINK})
    target_compile_definitions(${library}_${set} PRIVATE SCREE_SET=${set})
    # -Wno-psabi: vectors never cross a function that is not inlined, so their calling convention does not matter.
    target_compile_options(${library}_${set} PRIVATE -Wno-psabi ${scree_flags_of_${set}})
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_${set}>)
  endforeach()
endfunction()
