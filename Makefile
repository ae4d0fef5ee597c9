# What CI runs, and its parts for the impatient.

# A server that speaks OpenAI's protocol, for local-model.
BASE_URL ?= http://127.0.0.1:8081/v1
MODEL    ?= local

.PHONY: ci test race lint format fuzz sandbox bench demo local-model

ci: ## everything, as the pipeline does it
	.ci/run

test race lint format fuzz sandbox: ## one step of it
	.ci/run $@

bench: ## our overhead without a model
	go test -run '^$$' -bench . -benchmem ./isc ./planner ./hub ./spoke ./spoke/egress ./spoke/wasm ./spoke/foreign

demo: ## the case studies, isolated beside vanilla
	go run ./examples/casestudies

local-model: ## the same on a real model behind BASE_URL
	go run ./examples/casestudies -llm openai:$(MODEL) -base-url $(BASE_URL)
