import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { gatewayErrors } from '../../gateway/gatewayErrors.ts';
import { toErrorAnswer } from './gatewayAnswer.ts';

/** Answers bytes that are not an HTTP request, or one with headers past all limits. */
export function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  // As the server's own handler does: bytes after a response has begun would be taken for a part of it.
  const underWay = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent) {
    socket.destroy(error);
    return;
  }
  const { statusCode, headers, body } = toErrorAnswer(gatewayErrors.DEFAULT_4XX, randomUUID());
  const lines = Object.entries({
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${statusCode} Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
