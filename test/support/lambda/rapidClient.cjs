// Takes the place of the runtime client's native module, which posts the responses of functions with buffered
// responses. Its calls reach the Runtime API in their order, since they share one connection.
const { Agent, request } = require('node:http');

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function call(method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const options = { hostname, port, agent, method, headers };
    const sent = request({ ...options, path: `/2018-06-01/runtime/invocation/${path}` });
    sent.on('error', reject).on('response', async (response) => {
      const chunks = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ bodyJson: Buffer.concat(chunks).toString(), headers: response.headers });
    });
    sent.end(body);
  });
}

module.exports = {
  next: () => call('GET', 'next'),
  done: (id, body) => void call('POST', `${id}/response`, body),
  error: (id, body, xray) =>
    void call('POST', `${id}/error`, body, { 'Lambda-Runtime-Function-XRay-Error-Cause': xray }),
};
