# Everything below is a Debian 12 package: scripts/install-deps.sh lists them.
add_link_options(-Wl,--as-needed)    # FindHDF5 adds libcurl, libcrypto, libsz: drop what is unused

set(MPI_CXX_SKIP_MPICXX TRUE)        # the dead C++ bindings must not be linked
find_package(MPI 3.1 REQUIRED COMPONENTS C CXX)

set(HDF5_PREFER_PARALLEL TRUE)       # with both packages installed CMake would silently take the serial one
find_package(HDF5 1.10 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "parallel HDF5 is needed: install libhdf5-openmpi-dev")
endif()
add_library(scree_hdf5 INTERFACE)
target_include_directories(scree_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_compile_definitions(scree_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
target_link_libraries(scree_hdf5 INTERFACE ${HDF5_C_LIBRARIES})

find_package(PkgConfig REQUIRED)
pkg_check_modules(PETSC REQUIRED PETSc>=3.18)
add_library(scree_petsc INTERFACE)   # headers alone: src/core/petsc_functions.hpp loads the library when it is needed
target_include_directories(scree_petsc SYSTEM INTERFACE ${PETSC_INCLUDE_DIRS})
list(GET PETSC_LINK_LIBRARIES 0 SCREE_PETSC_FILE)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${SCREE_PETSC_FILE} OUTPUT_VARIABLE petsc_header COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "SONAME +([^ \n]+)" petsc_header "${petsc_header}")
set(SCREE_PETSC_NAME ${CMAKE_MATCH_1})

if(SCREE_VTK)
  find_package(VTK 9.1 REQUIRED COMPONENTS CommonCore CommonDataModel IOXML)
endif()
if(SCREE_CROWD)
  find_package(GEOS 3.11 REQUIRED)    # floor plans; only its C interface is stable
  find_package(PNG REQUIRED)          # floor plans as images
endif()
find_package(Boost 1.74 REQUIRED)     # headers: distributions (Math), Voronoi cells (Polygon)
find_package(Qhull 8 CONFIG REQUIRED)  # hulls of meshes
find_package(tomlplusplus 3 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3 REQUIRED)
