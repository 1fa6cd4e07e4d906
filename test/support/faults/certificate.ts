import { createSign, generateKeyPairSync } from 'node:crypto';

export type Certificate = ReturnType<typeof makeCertificate>;

/** Makes a self-signed certificate of 127.0.0.1 in DER (RFC 5280 section 4.1): Node.js can make only keys. */
export function makeCertificate() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // Clients look for the host only among the alternative names.
  const noName = sequence();
  const ecdsaWithSha256 = sequence(tlv(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const subjectAltName = tlv(0x06, Buffer.from('551d11', 'hex'));
  const loopback = tlv(0x87, Buffer.from([127, 0, 0, 1]));
  const names = sequence(subjectAltName, tlv(0x04, sequence(loopback)));
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    noName,
    sequence(tlv(0x18, Buffer.from('20200101000000Z')), tlv(0x18, Buffer.from('20991231235959Z'))),
    noName,
    publicKey.export({ format: 'der', type: 'spki' }),
    tlv(0xa3, sequence(names)),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const der = sequence(body, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature));
  return {
    key: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return tlv(0x30, ...contents);
}

/** A value after its tag and length. */
function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
