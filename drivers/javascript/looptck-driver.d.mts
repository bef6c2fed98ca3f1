/** Serve a driver on standard input and output until looptck stops it. */
export function serve(driver: Driver): Promise<void>;

/** What a driver is: one object for all runs. An exception of a method is a fault of the driver. */
export interface Driver {
  /** What the loop is and can do. Called once, before all runs. */
  start(): Started | Promise<Started>;
  /**
   * Run one case. `emit` takes each piece of text, and each event, as the loop hands it to its caller; `cancel` aborts
   * the signal.
   */
  run(scenario: Case, emit: (told: string | Event) => void, signal: AbortSignal): Outcome | Promise<Outcome>;
  /** Called at the end. */
  stop?(): void | Promise<void>;
}

export type Outcome = Value | Error | Suspended;

export type Event = CallEvent | ArgumentsEvent | ResultEvent | EndEvent;

/** What `start` returns: name and version of the loop, its wires, and its capabilities by name. */
export function started(loop: Declared): Started;

/** `modes`: `['async']` if absent. */
export interface Declared extends Capabilities {
  name: string;
  version: string;
  wires: Wire[];
  modes?: Mode[];
  profiles?: string[];
  dialect?: Dialect;
  /** The tool of its own by whose call alone the loop takes an answer. */
  answer?: Answer;
  /** The tools by which a model hands over or calls another agent, if what a request offers does not show it. */
  agent_tools?: AgentTools;
}

/**
 * The outcome of a loop that returned: its final text, `stop` if it reports why it ended, `usage` if it tells what the
 * run has used, `output` if its caller got a JSON value.
 */
export function value(
  text: string | null | undefined | void,
  more?: { stop?: Stop; usage?: Usage; output?: unknown },
): Value;

/** The outcome of a loop that threw: its reason, or reasons by the name of an error or of its class. */
export function error(exception: unknown, known?: { reason?: Reason; reasons?: Record<string, Reason> }): Error;

/** The outcome of a run that waits for decisions about these calls. */
export function suspended(state: unknown, calls: Pending[]): Suspended;

/** It takes the arguments as one object, and a signal for a tool that can be aborted. */
export type Handler = (args?: object, options?: { signal?: AbortSignal }) => Promise<any>;

/** A function for each tool of the case that should have a handler, by name. */
export function handlers(scenario: Case): Record<string, Handler>;

/** What a handler returns in place of a value, for a loop that declares `parts`: texts and images, in order. */
export class Parts extends Array<TextPart | ImagePart> {}

/** The error that a handler throws on request; its name is the requested one. */
export class ToolError extends globalThis.Error {}

/** Ask whether a call may run, in a case with `confirm`. */
export function confirm(scenario: Case, id: string, name: string, args: unknown): Promise<Omit<Decision, 'id'>>;

/** The same in a case of `agent-loop-010`, with the call as the model has written it. */
export function confirm(
  scenario: Case,
  call: object,
): Promise<Omit<Decision, 'id'> | { decision: 'replace'; call: Record<string, any> }>;

/** Post a JSON message to a URL of the case; returns the reply. */
export function post(url: string, message: object, signal?: AbortSignal): Promise<any>;

// Generated from fixtures/protocol/ by python -m tools.javascript_types.

export type Wire = 'openai-chat' | 'openai-responses' | 'anthropic-messages';
export type Mode = 'sync' | 'async';
export type Stop = 'end' | 'calls' | 'limit' | 'length' | 'content_filter' | 'refusal' | 'other';
export type Reason = 'limit' | 'tool' | 'unknown-tool' | 'arguments' | 'provider' | 'stream' | 'truncated' | 'refusal' | 'cancelled' | 'other';

export interface Case {
  /** The name of the case, for logs. */
  name: string;
  /** The id of the run, which `cancel` names. */
  id?: string;
  /** The document whose rules the run is judged by; a driver may choose its implementation's configuration by it. */
  profile: string;
  wire: Wire;
  /** Ask the provider for event streams, and send `chunk` as text arrives. */
  stream: boolean;
  mode: Mode;
  /** The base URL as an OpenAI client takes it; ends in /v1, without a slash after it. */
  base_url: string;
  /** A dummy key. */
  api_key: string;
  model: string;
  agent: Agent;
  /**
   * The template with the inputs filled in; empty if the case has a `context` or a `resume`. In the first run of a
   * `conversation` the prompt, in later runs the user's message alone.
   */
  messages: Message[];
  /**
   * Sent only to drivers with the capability `conversations`. The runs with one such id are one conversation, each of
   * which goes on with all that was said before, as a session, a thread, a memory or a list of messages does it; runs
   * with other ids share nothing with it. All runs of a conversation have the same base URL, model, agent and tools.
   */
  conversation?: string;
  /**
   * Sent only to drivers with the capability `shared`. The runs with one such id use one agent object, which is made in
   * the first of them; each run has a history of its own, unless a `conversation` says otherwise. They have the same
   * base URL, model, agent and tools.
   */
  shared?: string;
  /**
   * Sent only to drivers with the capability `suspend`. Resume the run that was suspended with this state, with a
   * decision for each of its calls. Base URL, model, agent, tools and options are those of the suspended run.
   */
  resume?: Resume;
  /**
   * Sent only in cases of `agent-loop-010`: the messages with which the run begins, except those that offer tools, in
   * place of a prompt.
   */
  context?: ContextMessage[];
  /**
   * Sent in cases of `agent-loop-010`, and else only to drivers with the capability `output`, to which the loop hands
   * it as a user does: JSON Schema of the value that ends the run.
   */
  output_schema?: Record<string, unknown>;
  /**
   * Sent only to drivers with the capability `confirm`, in cases that use confirmation. Before the loop runs a call of
   * a tool with `approval` (in `agent-loop-010`: any call), POST {"call": {"id", "name", "arguments"}} (in
   * `agent-loop-010`: the call as the model wrote it) here and wait for the reply: {"decision": "approve"};
   * {"decision": "change", "parameters": {…}} with new values for the parameters of these names; {"decision":
   * "replace", "call": {…}}; or {"decision": "reject", "feedback": text for the model}.
   */
  confirm?: string;
  /**
   * Sent only to drivers with the capability `handoffs` or `subagents`. Several agents, of which the first begins.
   * `messages` then has no instructions, and `tools` has the tools of all agents together.
   */
  agents?: Member[];
  /** What the caller of the loop passes; inputs that are absent have their defaults. */
  inputs: Record<string, unknown>;
  tools: Tool[];
  /**
   * The address of an MCP server (streamable HTTP, without sessions) that has those of `tools` that have a handler, for
   * a loop that takes its tools from servers alone. Any other loop takes `tools`.
   */
  tools_url?: string;
  /**
   * Toolbox URLs of further handlers to register, by the name of a tool: those that the agents of prompty tools call.
   */
  handlers?: Record<string, string>;
  /**
   * Toolbox URLs of handlers to register, by kind of tool, for this run; sent only to drivers with the capability
   * `kinds`. When the loop calls one, POST {"tool": name, "arguments": …, "agent": its name, "inputs": …} with the
   * call's values.
   */
  kinds?: Record<string, string>;
  /** Sent only to drivers with the capability `mcp`. Servers whose tools the service offers and calls itself. */
  mcp_servers?: Server[];
  /**
   * Sent only to drivers with the capability `mcp_client`. MCP servers, over streamable HTTP, that the loop connects
   * to: it offers their tools beside its own, and calls them itself.
   */
  tool_servers?: Server[];
  /**
   * Tools that the service runs itself, offered in addition to those of the loop. `search` is the wire's web search,
   * sent only to drivers with the capability `hosted`. `other` is any other, sent only to drivers with the capability
   * `hosted_others`: `tool` is what the request offers, in the wire's form.
   */
  hosted_tools?: Hosted[];
  /**
   * Sent only to drivers with the capability `spans`. Run the case as a child of the span in `traceparent` (W3C Trace
   * Context), and export its spans over OTLP/HTTP, protobuf or JSON, before `finished`. A driver in this process may
   * keep them in an in-memory exporter, as its attribute `span_exporter`.
   */
  telemetry?: Telemetry;
  options: Options;
}

export interface Agent {
  name: string;
  description: string;
  /**
   * A .prompty file with all of this, and with base URL, key, model and stream; sent only in cases about such files, to
   * drivers with the capability `prompts`. Load the agent from it.
   */
  path?: string;
  /** The inputs that the agent declares. */
  inputs?: Input[];
  /** The prompt before inputs are filled in; {{name}} is the place of an input. */
  template: Message[];
}

export interface Input {
  name: string;
  kind: 'string' | 'integer' | 'float' | 'number' | 'boolean' | 'array' | 'object';
  description?: string;
  default?: unknown;
}

export interface Message {
  /** `tool`: the result of a call; sent only to drivers with the capability `histories`. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  /**
   * Of an assistant's message: the calls of the turn, behind its text; sent only to drivers with the capability
   * `histories`.
   */
  calls?: Call[];
  /** Of a tool's message: the id of the call that it answers. */
  call_id?: string;
}

export interface Call {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export interface Tool {
  name: string;
  /** `function`; `prompty`, for another prompt that runs as a tool; anything else is run by the handler of its kind. */
  kind: string;
  description: string;
  /** JSON Schema of the arguments, including those with bindings. */
  parameters: Record<string, unknown>;
  /** Whether the model has to keep to the schema; absent: false. */
  strict?: boolean;
  /**
   * Whether each call needs approval before it runs; sent only to drivers with the capability `confirm` or `suspend`.
   * Absent: false.
   */
  approval?: boolean;
  /** Parameters that take their value from an input, by name; absent: none. */
  bindings?: Record<string, string>;
  /** For a tool of the kind prompty: its .prompty file, relative to that of the agent. */
  path?: string;
  /** For a tool of the kind prompty. */
  mode?: 'single' | 'agentic';
  /** The kind of function to register; absent: the one that suits the mode of the run. */
  handler?: Mode;
  /**
   * POST {"arguments": …} here when the loop calls the tool; the reply is {"value": …} to return, or {"error": {"type",
   * "message"}} to raise; to drivers with the capability `parts` also {"parts": […]}, text and images to return as such
   * (`text_part`, `image_part`). null: offer the tool to the model without registering a handler for it.
   */
  url: string | null;
}

/** A text among the parts of a result. */
export interface TextPart {
  type: 'text';
  text: string;
}

/** An image among the parts of a result. */
export interface ImagePart {
  type: 'image';
  /** Such as image/png. */
  media_type: string;
  /** The bytes in base64. */
  data: string;
}

export interface Options {
  /** The iteration limit; absent: the implementation's own default. */
  limit?: number;
  /**
   * Sent only to drivers with the capability `leave`. The caller leaves the stream when it has received this many
   * chunks, as a user of the implementation would. Send these chunks, and then `finished` with an error whose reason is
   * `cancelled`.
   */
  leave_after?: number;
  /**
   * Sent only to drivers with the capability `prune`. How many of the latest rounds each request carries after the
   * prompt; absent: all. A round is a turn with calls and its results, with the paused turns before it.
   */
  keep_rounds?: number;
  /**
   * Sent only to drivers with the capability `tool_choice`. What the caller says about calls: the model may call tools
   * or not (auto), has to call one (required), has to call this tool, or may call none; absent: the caller says
   * nothing.
   */
  tool_choice?: 'auto' | 'required' | 'none' | Chosen;
  /**
   * Sent only to drivers with the capability `single_calls`, and then false: no turn of the model may have several
   * calls. Absent: the caller says nothing.
   */
  parallel_calls?: boolean;
}

export interface Chosen {
  /** The name of a tool of the case. */
  tool: string;
}

/** An MCP server: what the caller calls it, and its URL. */
export interface Server {
  name: string;
  url: string;
}

export interface Hosted {
  kind: 'search' | 'other';
  tool?: Record<string, unknown>;
}

/**
 * Sent only to drivers with the capability `spans`. Run the case as a child of the span in `traceparent` (W3C Trace
 * Context), and export its spans over OTLP/HTTP, protobuf or JSON, before `finished`. A driver in this process may keep
 * them in an in-memory exporter, as its attribute `span_exporter`.
 */
export interface Telemetry {
  /** Spans are posted to /v1/traces below it; the same for all runs. */
  endpoint: string;
  traceparent: string;
}

/** One of several agents. */
export interface Member {
  /** One word in small letters. */
  name: string;
  /** What it is for, as the agents that may call it are told. */
  description: string;
  /** Its system prompt. */
  instructions: string;
  /** The names of its tools among those of the case; it has no others. */
  tools: string[];
  /**
   * The names of the agents to which it may hand the conversation over; sent only to drivers with the capability
   * `handoffs`.
   */
  handoffs: string[];
  /** The names of the agents that it may call as tools; sent only to drivers with the capability `subagents`. */
  subagents: string[];
}

/**
 * Sent only to drivers with the capability `suspend`. Resume the run that was suspended with this state, with a
 * decision for each of its calls. Base URL, model, agent, tools and options are those of the suspended run.
 */
export interface Resume {
  /** The state as the driver has sent it. */
  state: unknown;
  decisions: Decision[];
}

/** The decision about a call of a suspended run. */
export interface Decision {
  /** The id of the call, as the driver has sent it. */
  id: string;
  /** `change`: the call runs with the `parameters` in place of those of the same names. */
  decision: 'approve' | 'reject' | 'change';
  /** Of a rejection: its reason, for the model. */
  feedback?: string;
  parameters?: Record<string, unknown>;
}

/** A message of Agent/Loop, flat and typed. */
export interface ContextMessage {
  type: 'text' | 'data' | 'input' | 'state' | 'plan';
  /** In messages of the type text. */
  text?: string;
  /** In messages of the type data: the name by which its values are addressed; absent: `data`. */
  kind?: string;
  /** In messages of the type data: any JSON. */
  data?: unknown;
  /** In messages of the type input: values by name. */
  input?: Record<string, unknown>;
  /** In messages of the type plan: calls. */
  plan?: Record<string, unknown>[];
  /** In messages of the type plan; absent: eager. */
  mode?: 'eager' | 'lazy';
  /** The instance to which the message belongs; absent: all. */
  _instance?: string;
}

/** The answer to `start`. */
export interface Started {
  protocol: 1;
  /** The implementation under test. */
  name: string;
  version: string;
  language: string;
  wires: Wire[];
  modes: Mode[];
  /** Profiles claimed beside `core`, or in its place: `agent-loop-010` stands alone. */
  profiles: string[];
  /** What the implementation can do. Absent means false, but of `plain`. */
  capabilities: Capabilities;
  /** The implementation's choices where the documents leave them open. */
  dialect?: Dialect;
  /**
   * The tool of its own by whose call alone the loop takes an answer; absent: it takes a text. The model then says each
   * answer as a call of that tool, where a request offers it.
   */
  answer?: Answer;
  /**
   * The tools by which a model hands over or calls another agent, where a request does not show it: without it they are
   * found by the names of the agents in what is offered.
   */
  agent_tools?: AgentTools;
}

/** What the implementation can do. Absent means false, but of `plain`. */
export interface Capabilities {
  /** It can ask for event streams. */
  stream?: boolean;
  /** It can ask for plain replies. Absent means true. */
  plain?: boolean;
  /** It hands text to its caller while it arrives. */
  chunks?: boolean;
  /** Its iteration limit can be set. */
  limit?: boolean;
  /** The driver takes a second `run` before it has finished the first. */
  concurrent?: boolean;
  /** Its requests rely on state of the service: previous_response_id, conversations, item references, threads. */
  memory?: boolean;
  /** A run of it can be cancelled. */
  cancel?: boolean;
  /** A run can go on with a conversation: with everything that earlier runs of it have said. */
  conversations?: boolean;
  /** It takes a prompt with calls and results of earlier turns. */
  histories?: boolean;
  /** One agent object of it may serve several runs, at the same time too. */
  shared?: boolean;
  /** A run in sync mode can be cancelled too, and not only one in async mode. */
  interrupt?: boolean;
  /** It tells its caller how many tokens a run has used. */
  usage?: boolean;
  /** It tells its caller of calls and results while it runs. */
  events?: boolean;
  /** The caller can leave a stream before its end. */
  leave?: boolean;
  /** A run ends as suspended before calls that need approval, and another run resumes it with the decisions. */
  suspend?: boolean;
  /** The state of a suspended run is JSON that another process can resume. */
  travels?: boolean;
  /** A decision may change the arguments of a call that needs approval: it runs with the changed ones. */
  changes?: boolean;
  /** Its tools may return text and images as parts, which reach the model as such. */
  parts?: boolean;
  /** Its tools can be strict: it asks the service to hold their arguments to the schema. */
  strict?: boolean;
  /** Its caller can say whether the model has to call a tool, and which, or may call none. */
  tool_choice?: boolean;
  /** Its caller can forbid several calls in one turn. */
  single_calls?: boolean;
  /** An agent of it can hand the conversation over to another, which then answers the user. */
  handoffs?: boolean;
  /** An agent of it can call another as a tool, which has a conversation of its own and whose answer is the result. */
  subagents?: boolean;
  /** Its caller can give a JSON Schema of the answer, and gets a value that fits. */
  output?: boolean;
  /** Parameters of its tools can be bound to inputs. */
  bindings?: boolean;
  /** Handlers can be registered for a kind of tool. */
  kinds?: boolean;
  /** It loads agents from .prompty files. */
  prompts?: boolean;
  /** Tools of the kind prompty run another .prompty file. */
  nested?: boolean;
  /** Its async runs take plain functions and coroutine functions as handlers. */
  mixed?: boolean;
  /** It runs the calls of a turn at the same time. */
  parallel?: boolean;
  /** It starts calls of a stream before it knows why the model stopped. */
  eager?: boolean;
  /** The number of rounds that it sends again can be set. */
  prune?: boolean;
  /** It is a client of MCP servers over streamable HTTP, and offers and calls their tools itself. */
  mcp_client?: boolean;
  /** It can name MCP servers, which the service calls itself. */
  mcp?: boolean;
  /** It can offer the service's web search. */
  hosted?: boolean;
  /** It can offer any tool that the service runs itself, given in the wire's form. */
  hosted_others?: boolean;
  /** It emits OpenTelemetry spans for its runs. */
  spans?: boolean;
  /** It can ask for confirmation before it runs a call, and obeys the answer. */
  confirm?: boolean;
  /** It takes tools without a handler, whose results the model writes. */
  latent?: boolean;
  /** Parameters and output paths of its calls may join several references: the first that exists, or all. */
  expressions?: boolean;
  /** Its calls may say how a result joins what is there: merge, assign, push or concat. */
  methods?: boolean;
  /** It takes plan messages, and hands the calls of a turn on as the plan of the next. */
  plans?: boolean;
  /** Its calls may belong to an instance, whose values no other instance sees. */
  instances?: boolean;
}

/** The implementation's choices where the documents leave them open. */
export interface Dialect {
  /** What the limit counts. Absent means model-calls. */
  limit_counts?: 'model-calls' | 'tool-rounds';
  /** What a limit of zero means: it is reached before anything runs, or there is none. Absent means reached. */
  limit_of_zero?: 'reached' | 'no-limit';
  /**
   * What becomes of a call whose name is nearly that of an offered tool: it is an unknown tool, or the similar tool
   * runs. Absent means refused.
   */
  unknown_names?: 'refused' | 'repaired';
  /**
   * What becomes of a call that is equal to one before it: it runs too, or the loop answers it without running it, as
   * guards against repetitions do. Absent means run.
   */
  equal_calls?: 'run' | 'answered';
  /**
   * What becomes of the calls of a turn that stand behind one that has failed: they run, or the loop tells the model
   * that they have not. Absent means run.
   */
  after_failure?: 'run' | 'skipped';
  /**
   * What a user who rejects a call can say of it: a reason, which the model reads, or no alone. Absent means
   * with-reasons.
   */
  rejections?: 'with-reasons' | 'bare';
  /**
   * For which models the loop is: any, or only those that do not reason, whose turns have no reasoning to keep. Absent
   * means any.
   */
  models?: 'any' | 'without-reasoning';
  /**
   * The text of the value: that of the last turn, or of all rounds of the run in order, joined by blanks or nothing.
   * Absent means last-turn.
   */
  answer_text?: 'last-turn' | 'all-rounds';
  /**
   * How long a choice that forces a call holds: for the first round of tools, or for every request of the run;
   * first-request: each choice is for the first request alone, that of none too. Absent means first-round.
   */
  tool_choice?: 'first-round' | 'every-request' | 'first-request';
  /**
   * How a tool is given to the loop: with its schema, or as a function alone, whose signature says the schema; the
   * driver then leaves out what no signature says. Absent means schemas.
   */
  tools?: 'schemas' | 'functions';
  /** Which runs tell events: all, or only those that ask for streams. Absent means all-runs. */
  events?: 'all-runs' | 'streams';
  /**
   * The form of inputs and parameters in .prompty files of cases of `prompty-agent-mode`: that of the guide, or the
   * lists of all other cases. Absent means guide.
   */
  agent_files?: 'guide' | 'lists';
  /**
   * How several profiles are followed: by one behaviour in all runs (together), or each in the cases that name it as
   * their `profile` (apart). Absent means together.
   */
  profiles?: 'together' | 'apart';
}

/**
 * The tool of its own by whose call alone the loop takes an answer; absent: it takes a text. The model then says each
 * answer as a call of that tool, where a request offers it.
 */
export interface Answer {
  /** The name of the tool, as the loop offers it. */
  tool: string;
  /** The argument with the text of the answer. */
  argument: string;
  /** Further arguments that each call needs. */
  others?: Record<string, unknown>;
}

/** The model has made a call, and all of it is there; or the call begins to run. */
export interface CallEvent {
  kind: 'call';
  /** The id by which the caller can tell the events of this call from those of others; null: it gets none. */
  call_id: string | null;
  /** The name of the tool. */
  name: string;
  /** The arguments: their value, or the text of them; absent: the caller is not told. */
  arguments?: unknown;
}

/** A piece of the arguments of a call, as the model writes them. */
export interface ArgumentsEvent {
  kind: 'arguments';
  /** The id of the call, as in its other events. */
  call_id: string | null;
  text: string;
}

/** A call has its result: its tool has ended, or the model is told that it did not run. */
export interface ResultEvent {
  kind: 'result';
  /** The id of the call, as in its other events. */
  call_id: string | null;
  /**
   * What the tool has returned, or the text that the model gets; of an error, its text. Absent: the caller is not told.
   */
  result?: unknown;
  /** Whether it is the result of a failure, if the caller is told. */
  failed?: boolean;
}

/** The run is over, as an event tells it. The end of an iteration and an exception are no events. */
export interface EndEvent {
  kind: 'end';
  /** How it ended, if the event says so. */
  how?: 'value' | 'error' | 'cancelled' | 'suspended';
}

/**
 * The tools by which a model hands over or calls another agent, where a request does not show it: without it they are
 * found by the names of the agents in what is offered.
 */
export interface AgentTools {
  handoff?: AgentTool;
  subagent?: AgentTool;
}

/**
 * A call of such a tool. In its name and in texts among its arguments {agent} is the place of the agent's name, and
 * {input} of what the agent is asked.
 */
export interface AgentTool {
  /** The name of the tool, as the loop offers it. */
  tool: string;
  /** Its arguments. */
  arguments: Record<string, unknown>;
}

export interface Value {
  kind: 'value';
  /** The final answer as the caller got it; null if it got none. */
  text: string | null;
  /** The JSON value that the caller got, in a case with `output_schema`; absent or null: it got none. */
  output?: unknown;
  /**
   * Why the loop ended, if its caller can see it: the answer was complete, the loop handed its caller calls that it did
   * not run, the iteration limit, cut by the token limit, cut by the content filter, refused by the model, or another
   * reason that says that the answer may not be complete.
   */
  stop?: Stop;
  usage?: Usage;
}

/**
 * The tokens that this run has used, all replies together, as its caller can read them; a number that is absent or null
 * is not told.
 */
export interface Usage {
  /** What the model has read. */
  input_tokens?: number | null;
  /** What the model has written. */
  output_tokens?: number | null;
  /** Both together. */
  total_tokens?: number | null;
  /** What of the input came from a cache, whether or not `input_tokens` includes it. */
  cached_tokens?: number | null;
  /** Those of these that the caller sees as NaN, for which JSON has no number. */
  not_numbers?: ('input_tokens' | 'output_tokens' | 'total_tokens' | 'cached_tokens')[];
}

export interface Error {
  kind: 'error';
  /** The driver's classification of the error; `other` if the implementation does not say. */
  reason: Reason;
  /** The error's own type name. */
  type: string;
  message: string;
  /** The names of the classes that the error's own type extends, the nearest first; absent: the driver does not say. */
  bases?: string[];
  /** Whether no caller of the loop could have caught it, as a rejection that nobody awaits; absent means false. */
  escaped?: boolean;
}

/** The run waits for decisions about calls; only from drivers with the capability `suspend`. */
export interface Suspended {
  kind: 'suspended';
  /**
   * What the driver needs to resume the run: any JSON, which the kit returns as it is. With the capability `travels` it
   * is everything that is needed; without it, it may be a key of something that the driver keeps.
   */
  state: unknown;
  /** The calls that wait for a decision. */
  calls: Pending[];
}

export interface Pending {
  /** The name by which a decision refers to the call: that of the service, or one of the loop's own. */
  id: string;
  name: string;
  /** As an object, or as the text that the model has written. */
  arguments: unknown;
}

// End of what is generated.
