"""Agents that are language models behind the chat API of OpenAI, which many servers speak: `llm:MODEL`."""
