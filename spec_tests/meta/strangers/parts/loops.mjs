// node loops.mjs [FAULT]: a right loop on Chat, streamed too, whose tools may return images, or one with a fault.

import { error, handlers, Parts, serve, started, value } from '../../../../drivers/javascript/looptck-driver.mjs';
import { Chat } from '../themes/chat_base.mjs';

const dataUrl = ({ media_type, data }) => `data:${media_type};base64,${data}`;
const shown = (part) => ({ type: 'image_url', image_url: { url: dataUrl(part) } });
const textOf = (parts) => parts.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');
const plain = (result) => (typeof result === 'string' ? result : JSON.stringify(result ?? null));

class Right extends Chat {
  images = [];

  show(result) {
    if (!(result instanceof Parts)) return plain(result);
    this.images.push(...result.filter(({ type }) => type === 'image'));
    return textOf(result) || '(see the image below)';
  }

  // The images of the last turn go behind all of its results, before the model is asked again.
  ask() {
    if (this.images.length) this.history.push(this.message(this.images.splice(0)));
    return super.ask();
  }

  message(images) {
    return { role: 'user', content: images.map(shown) };
  }
}

const FAULTS = {
  // A template literal makes "[object Object],[object Object]" of the parts.
  'object-object': class extends Right {
    show(result) {
      return `${result}`;
    }
  },
  // A Buffer is made of the bytes, and goes to JSON as a list of numbers.
  'buffer-as-json': class extends Right {
    show(result) {
      if (!(result instanceof Parts)) return plain(result);
      const bytes = result.map((part) => (part.type === 'text' ? part : { ...part, data: Buffer.from(part.data, 'base64') }));
      return JSON.stringify(bytes);
    }
  },
  // The bytes go through UTF-8 on their way.
  'through-utf8': class extends Right {
    message(images) {
      const spoiled = ({ data }) => Buffer.from(Buffer.from(data, 'base64').toString('utf8')).toString('base64');
      return super.message(images.map((one) => ({ ...one, data: spoiled(one) })));
    }
  },
  // The last image of the turn is sent for each.
  'last-image-for-all': class extends Right {
    message(images) {
      return super.message(images.map(() => images.at(-1)));
    }
  },
};

const name = process.argv[2];
const Kind = name ? FAULTS[name] : Right;
if (!Kind) throw new Error(`${name} is none of ${Object.keys(FAULTS).join(', ')}`);

serve({
  start: () =>
    started({ name: `parts-${name ?? 'right'}`, version: '1', wires: ['openai-chat'], stream: true, concurrent: true, parts: true }),
  async run(scenario, emit) {
    const functions = handlers(scenario);
    const tools = scenario.tools.map((tool) => ({ ...tool, execute: functions[tool.name] }));
    try {
      return value(await new Kind({ ...scenario, tools }, emit).run());
    } catch (exception) {
      return error(exception);
    }
  },
});
