//! The webhook, asked as the API server asks it. The API server that it asks back is a table of answers.

mod allocations;
mod api_server;
mod attacks;
mod bodies;
mod call;
mod candidates;
mod clients;
mod compositions;
mod config;
mod definitions;
mod http;
mod modes;
mod objects;
mod overrides;
mod pods;
mod receiver;
mod shutdown;
mod slices;
mod tls;
