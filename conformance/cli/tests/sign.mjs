// SPDX-License-Identifier: MIT
// DSSE by Node's own Ed25519 (OpenSSL), which knows nothing of gpucert.
// usage: sign.mjs sign PRIVATE.pem PAYLOAD-TYPE PAYLOAD-FILE [url|keyless|other...]: prints an envelope
//        sign.mjs resign PRIVATE.pem ENVELOPE EDIT: prints the envelope with a statement `s` that EDIT (JavaScript) changed, signed anew
//        sign.mjs verify PUBLIC.pem ENVELOPE: exit code 0: a signature is right
//        sign.mjs pae ENVELOPE: prints the bytes that are signed
//        sign.mjs sig ENVELOPE: prints the first signature
//        sign.mjs keyid PUBLIC.pem
import {createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify} from 'node:crypto';
import {readFileSync} from 'node:fs';

const pae = (type, body) => Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);
const keyid = (key) => createHash('sha256').update(createPublicKey(key).export({type: 'spki', format: 'der'})).digest('hex');

function envelope(key, type, body, ...how) {
	const text = (bytes) => bytes.toString(how.includes('url') ? 'base64url' : 'base64');
	const pad = (string) => string + '='.repeat((4 - string.length % 4) % 4);
	const signatures = [{keyid: keyid(key), sig: pad(text(sign(null, pae(type, body), key)))}];
	if (how.includes('keyless'))
		delete signatures[0].keyid;
	if (how.includes('other')) {
		const other = generateKeyPairSync('ed25519').privateKey;
		const curve = generateKeyPairSync('ec', {namedCurve: 'P-256'}).privateKey;
		signatures.unshift({keyid: keyid(curve), sig: sign('sha256', pae(type, body), curve).toString('base64')});
		signatures.unshift({keyid: keyid(other), sig: sign(null, pae(type, body), other).toString('base64')});
	}
	return JSON.stringify({payloadType: type, payload: pad(text(body)), signatures});
}

const opened = (file) => {
	const json = JSON.parse(readFileSync(file, 'utf8'));
	return {...json, body: Buffer.from(json.payload, 'base64')};
};

const commands = {
	sign: (key, type, file, ...how) => envelope(createPrivateKey(readFileSync(key)), type, readFileSync(file), ...how),
	resign: (key, file, edit) => {
		const {payloadType, body} = opened(file);
		const s = JSON.parse(body);
		new Function('s', edit)(s);
		return envelope(createPrivateKey(readFileSync(key)), payloadType, Buffer.from(JSON.stringify(s)));
	},
	verify: (key, file) => {
		const {payloadType, body, signatures} = opened(file);
		const held = signatures.some(({sig}) =>
			verify(null, pae(payloadType, body), createPublicKey(readFileSync(key)), Buffer.from(sig, 'base64')));
		if (!held)
			throw new Error('no signature is right');
		return '';
	},
	pae: (file) => {
		const {payloadType, body} = opened(file);
		return pae(payloadType, body);
	},
	sig: (file) => Buffer.from(opened(file).signatures[0].sig, 'base64'),
	keyid: (key) => keyid(readFileSync(key)),
};

const [command, ...rest] = process.argv.slice(2);
process.stdout.write(commands[command](...rest));
