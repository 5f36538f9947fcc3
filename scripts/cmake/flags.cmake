# ccache, where it is installed, saves compiling again what has not changed (apt install ccache).
find_program(SCREE_CCACHE ccache)
foreach(language C CXX)
  if(SCREE_CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${SCREE_CCACHE})
  endif()
endforeach()

# Flags every scree target gets.
# -ffp-contract=off: a fused multiply-add rounds once where two operations round twice, so letting the
# compiler choose would make results depend on the instruction set. Bitwise identity is a promise here.
add_library(scree_flags INTERFACE)
target_compile_options(scree_flags INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
# GCC 12 reports std::string concatenation as overlapping memcpy (GCC bug 105651).
target_compile_options(scree_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_definitions(scree_flags INTERFACE $<$<BOOL:${SCREE_ASSERTS}>:SCREE_ASSERTS>)
target_include_directories(scree_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
if(SCREE_SANITIZE)
  target_compile_options(scree_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                                               -fno-sanitize-recover=undefined)
  target_link_options(scree_flags INTERFACE -fsanitize=address,undefined)
endif()

if(SCREE_FUZZ)
  target_compile_options(scree_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
                                               -fno-sanitize-recover=undefined)
  target_link_options(scree_flags INTERFACE -fsanitize=address,undefined)
endif()

# scree_library(name [SOURCES files...] LINK targets... PRIVATE targets...): one static library per folder of src/, of all
# sources in it (plug-ins are found, not listed) but those that are compiled once per instruction set.
function(scree_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  if(NOT A_SOURCES)
    file(GLOB_RECURSE A_SOURCES CONFIGURE_DEPENDS *.cpp)
    list(FILTER A_SOURCES EXCLUDE REGEX "_set\\.cpp$")
    if(NOT SCREE_CROWD)
      list(FILTER A_SOURCES EXCLUDE REGEX "/crowd\\.cpp$")  # of bench and verify
    endif()
  endif()
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC scree_flags ${A_LINK} PRIVATE ${A_PRIVATE})
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
