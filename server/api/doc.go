// Package api is the description of the service: its routes, what they take and answer as OpenAPI
// has it, and the form of its settings.
package api
