// Asks a server with @huggingface/inference's own client: client.mjs URL. Prints the answers as JSON.
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [url, modules] = process.argv.slice(2);
const at = createRequire(modules + '/').resolve('@huggingface/inference');
const {fillMask, InferenceClient} = await import(pathToFileURL(at));
const out = [];
for (const parameters of [{top_k: 2}, {targets: ['dog', 'cat']}, {joint: true, top_k: 2, seed: 1}]) {
  const several = parameters.joint;
  const inputs = several ? 'the [MASK] sleeps in the [MASK] .' : 'the [MASK] sleeps in the house .';
  out.push(await fillMask({endpointUrl: url + '/', inputs, parameters}));
  out.push(await new InferenceClient('').endpoint(url + '/models/tiny').fillMask({inputs, parameters}));
}
let refused = '';
try {
  await fillMask({endpointUrl: url + '/', inputs: 'the [MASK] sleeps in the [MASK] .'});
} catch (error) {
  refused = String(error.message);
}
console.log(JSON.stringify({out, refused}));
