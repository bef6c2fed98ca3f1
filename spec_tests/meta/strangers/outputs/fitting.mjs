// What the loops in this folder share: a small judge of values, and tools that run.

import { useTool } from '../conversations/runs.mjs';
import { LoopError } from '../javascript/driver.mjs';

/** Why a value does not fit a schema; undefined where it does. It knows the keywords that these loops meet. */
export function unfit(schema, value, root = schema, at = 'the output') {
  if (schema.$ref) return unfit(root.$defs[schema.$ref.split('/').pop()], value, root, at);
  if (schema.anyOf) return schema.anyOf.every((one) => unfit(one, value, root, at)) ? `${at} fits nothing` : undefined;
  if (schema.enum && !schema.enum.includes(value)) return `${at} is none of ${schema.enum}`;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const kinds = schema.type === 'integer' ? (Number.isInteger(value) ? ['number'] : []) : [schema.type ?? kind].flat();
  if (!kinds.includes(kind)) return `${at} is ${kind}, not ${schema.type}`;
  if (kind === 'array') return value.map((one, n) => unfit(schema.items ?? {}, one, root, `${at}/${n}`)).find(Boolean);
  if (kind !== 'object') return undefined;
  const missing = (schema.required ?? []).find((name) => !Object.hasOwn(value, name));
  if (missing) return `${at} lacks ${missing}`;
  const known = schema.properties ?? {};
  return Object.entries(value)
    .map(([name, one]) => {
      if (known[name]) return unfit(known[name], one, root, `${at}/${name}`);
      return schema.additionalProperties === false ? `${at} has a strange ${name}` : undefined;
    })
    .find(Boolean);
}

/** A schema of an object: the caller's, or one with the caller's in it. */
export const wrapped = (schema) =>
  schema.type === 'object'
    ? schema
    : {
        ...{ type: 'object', properties: { value: schema }, required: ['value'], additionalProperties: false },
        ...(schema.$defs && { $defs: schema.$defs }),
      };

export const unwrapped = (schema, value) => (schema.type === 'object' ? value : value?.value);

/** The tools of a case with what runs them. */
export const handled = (given) => ({
  ...given,
  tools: given.tools.map((tool) => ({ ...tool, execute: tool.url && ((args) => useTool(tool, args)) })),
});

export const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Unfit(`it is not JSON: ${error.message}`);
  }
};

/** What the model gave is no output. */
export class Unfit extends Error {}

export const checked = (schema, value) => {
  const why = unfit(wrapped(schema), value);
  if (why) throw new Unfit(why);
  return unwrapped(schema, value);
};

export const gaveUp = (why) => new LoopError('other', `the model gives no output that fits: ${why}`);
