// A tool's schema as a user writes it, in zod 3 or 4, which the driver's own package has installed: what makes a framework
// check the arguments that the model wrote. Undefined where zod does not say it here. `looptck.signatures` is the same for
// Python.
//
//     import { written } from './looptck-zod.mjs';
//
//     const inputSchema = written(tool.parameters) ?? tool.parameters;
//
// A loop that takes zod alone does without the tool: its driver declares `dialect: { tools: 'functions' }`.

import { z } from 'zod';

const KNOWN = new Set(
  ['type', 'description', 'title', 'enum', 'const', 'anyOf', 'items', 'properties', 'required', 'additionalProperties'],
);

export function written(schema) {
  const type = plain(schema);
  return type && schema?.description ? type.describe(schema.description) : type;
}

function plain(schema) {
  if (schema === true || Object.keys(schema ?? {}).length === 0) return z.any();
  if (typeof schema !== 'object' || Object.keys(schema).some((key) => !KNOWN.has(key))) return undefined;
  if (schema.enum?.every((one) => typeof one === 'string')) return z.enum(schema.enum);
  if (schema.enum || 'const' in schema) return union((schema.enum ?? [schema.const]).map((one) => z.literal(one)));
  if (schema.anyOf || Array.isArray(schema.type)) {
    const choices = schema.anyOf ?? schema.type.map((type) => ({ ...schema, description: undefined, type }));
    const types = choices.map((choice) => written(JSON.parse(JSON.stringify(choice))));
    return types.includes(undefined) ? undefined : union(types);
  }
  switch (schema.type) {
    case 'string': return z.string();
    case 'integer': return z.number().int();
    case 'number': return z.number();
    case 'boolean': return z.boolean();
    case 'null': return z.null();
    case 'array': return ((items) => items && z.array(items))(written(schema.items ?? true));
    case 'object': return object(schema);
  }
  return undefined;
}

const union = (types) => (types.length === 1 ? types[0] : z.union(types));

function object({ properties = {}, required = [], additionalProperties }) {
  const fields = Object.entries(properties).map(([name, schema]) => [name, written(schema), required.includes(name)]);
  if (fields.some(([, type]) => type === undefined)) return undefined;
  const shape = Object.fromEntries(fields.map(([name, type, needed]) => [name, needed ? type : type.optional()]));
  if (additionalProperties === undefined || additionalProperties === false) return z.object(shape);
  const others = written(additionalProperties);
  return others && z.object(shape).catchall(others); // `z.record` has no `properties`, and OpenAI refuses a tool without them
}
