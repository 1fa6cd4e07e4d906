import { createSign, generateKeyPairSync } from 'node:crypto';

/** A server's identity, in PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/**
 * Makes a certificate of 127.0.0.1 for a day, signed by itself: Node.js can make keys and no certificates
 * (RFC 5280 section 4.1, in DER).
 */
export function makeCertificate(now: Date = new Date()): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(objectIds.commonName, tlv(0x0c, Buffer.from('127.0.0.1')))));
  const tomorrow = new Date(now.getTime() + DAY);
  const yesterday = new Date(now.getTime() - DAY);
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1])),
    signatureAlgorithm,
    name,
    sequence(toTime(yesterday), toTime(tomorrow)),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    tlv(0xa3, sequence(isAuthority, isLoopback)),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const der = sequence(body, signatureAlgorithm, tlv(0x03, Buffer.from([0]), signature));
  return {
    key: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

const DAY = 86_400_000;

/** A value with its tag and its length. */
function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return tlv(0x30, ...contents);
}

function set(...contents: readonly Buffer[]): Buffer {
  return tlv(0x31, ...contents);
}

function toTime(time: Date): Buffer {
  const text = time.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return tlv(0x18, Buffer.from(text));
}

function objectId(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'));
}

const objectIds = {
  commonName: objectId('550403'),
  ecdsaWithSha256: objectId('2a8648ce3d040302'),
  basicConstraints: objectId('551d13'),
  subjectAltName: objectId('551d11'),
};

const signatureAlgorithm = sequence(objectIds.ecdsaWithSha256);
/** It vouches for itself. */
const isAuthority = sequence(
  objectIds.basicConstraints,
  tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff])))),
);
const isLoopback = sequence(
  objectIds.subjectAltName,
  tlv(0x04, sequence(tlv(0x87, Buffer.from([127, 0, 0, 1])))),
);
