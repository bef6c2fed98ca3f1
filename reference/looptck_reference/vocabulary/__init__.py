"""What the loop and the wires speak of: agents, tools, calls, results, actions, decisions and errors."""
