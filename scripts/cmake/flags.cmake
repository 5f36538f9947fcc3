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

# scree_library(name LINK targets... SOURCES files...): one static library per folder of src/.
function(scree_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC scree_flags ${A_LINK} PRIVATE ${A_PRIVATE})
endfunction()
