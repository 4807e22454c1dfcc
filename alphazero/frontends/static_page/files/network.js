// The player's network, by onnxruntime-web on one thread.

/** Fetch a file and check it against its integrity hash, if it has one. */
async function fetchBytes({ url, integrity }) {
  const response = await fetch(url, integrity ? { integrity } : {});
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/** Load the runtime and the model; return `evaluate(planes)`. */
export async function loadNetwork({ runtime, model, shape }) {
  const [script, wasm, weights] = await Promise.all(
    [runtime.script, runtime.wasm, model].map(fetchBytes),
  );
  // A script from another host has no integrity attribute in a worker: it is fetched and checked.
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const ort = await import(address);
  URL.revokeObjectURL(address);
  ort.env.wasm.wasmBinary = wasm;
  ort.env.wasm.numThreads = 1; // more need headers that static hosts do not send
  const session = await ort.InferenceSession.create(new Uint8Array(weights), {
    executionProviders: ["wasm"],
  });
  const size = shape.reduce((product, length) => product * length, 1);

  /** Return {logits, values} of planes [rows x C x H x W]. */
  return async function evaluate(planes) {
    const observations = new ort.Tensor("float32", planes, [planes.length / size, ...shape]);
    const { policy_logits: logits, values } = await session.run({ observations });
    return { logits: logits.data, values: values.data };
  };
}
