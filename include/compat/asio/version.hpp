#pragma once

#define ASIO_VERSION 103800 // 1.38.0, as far as the names go that are there
