/**
 * Optimizations that make the code less plain. `without` describes how to remove one: texts of a
 * built file and their plain replacements. A text that is not found is an error, so the list stays
 * up to date.
 *
 * @typedef {{ name: string, row: string, seen?: boolean, file: string, without:
 * ReadonlyArray<readonly [text: string, plain: string]> }} Trick
 */
const nothing = '{ get() {}, set() {}, delete() {}, clear() {} }'
const alone = ['const { batching } = database.dialect;', 'const batching = null;']

/** @type {readonly Trick[]} `row` is the label of a row in ../rows.mjs */
export const tricks = [
  {
    name: 'clients are cached',
    row: 'issue postgres ES256',
    file: 'oauth/dist/caches/client-cache.js',
    without: [['createRecentCache(CACHE_SIZE)', nothing]],
  },
  {
    name: 'codes are cached until they are exchanged',
    row: 'authorize+token postgres',
    file: 'oauth/dist/caches/code-cache.js',
    without: [['createRecentCache(CACHE_SIZE)', nothing]],
  },
  {
    name: 'consents are cached',
    row: 'authorize+token postgres',
    file: 'oauth/dist/caches/consent-cache.js',
    without: [['createRecentCache(CACHE_SIZE)', nothing]],
  },
  {
    name: 'checked redirect URIs are cached',
    row: 'authorize+token memory',
    file: 'oauth/dist/clients/redirect-uris.js',
    without: [['createRecentCache(CACHE_SIZE)', nothing]],
  },
  {
    name: 'verified tokens are cached',
    row: 'guarded GET seen before',
    file: 'oauth/dist/guard/verify.js',
    without: [
      ['let decodedTokens = createRecentCache(TOKEN_CACHE_SIZE)', `let decodedTokens = ${nothing}`],
    ],
  },
  {
    name: 'tokens that take no read are remembered when they come twice',
    row: 'guarded GET RS256',
    file: 'oauth/dist/guard/verify.js',
    without: [['if (verifiedOnce.get(mark))', 'if (true)']],
  },
  {
    name: 'inserts are batched',
    row: 'issue postgres ES256',
    file: 'database/dist/batching/insert.js',
    without: [alone],
  },
  {
    name: 'claims are batched',
    row: 'refresh postgres ES256',
    file: 'database/dist/batching/claim.js',
    without: [alone],
  },
  {
    name: 'inserts that depend on a row are batched',
    row: 'authorize+token one user',
    file: 'database/dist/batching/insert-while.js',
    without: [alone],
  },
  {
    name: 'reads by key are batched',
    row: 'introspect postgres opaque',
    file: 'database/dist/batching/find.js',
    without: [alone],
  },
  {
    name: 'statements are compiled once',
    row: 'issue postgres ES256',
    file: 'database/dist/statements/statement.js',
    without: [['plan ??= compile', 'plan = compile']],
  },
  {
    name: 'node:crypto signs, not WebCrypto',
    row: 'issue memory ES256',
    file: 'oauth/dist/crypto.js',
    without: [
      [
        "return signSync(digest, bytes, keyInput(key)).toString('base64url');",
        `return (key.web ??= globalThis.crypto.subtle.importKey('jwk', key.export({ format: 'jwk' }),
            { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']))
            .then((web) => globalThis.crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, web, bytes))
            .then((signature) => Buffer.from(signature).toString('base64url'));`,
      ],
    ],
  },
  {
    name: 'HMAC by two plain hashes',
    row: 'issue memory opaque',
    file: 'oauth/dist/crypto.js',
    without: [
      [
        'import { constants, createPrivateKey,',
        'import { constants, createHmac, createPrivateKey,',
      ],
      ['return { inner, outer };', 'return { key };'],
      [
        'export function hmac({ inner, outer }, text) {',
        `export function hmac({ inner, outer, key }, text) {
    if (key) return createHmac('sha256', key).update(text).digest('base64url');`,
      ],
    ],
  },
  {
    name: 'random bytes are generated in batches',
    row: 'authorize+token memory',
    file: 'oauth/dist/crypto.js',
    without: [
      [
        'const bytes = pool.subarray(poolOffset, poolOffset + SECRET_BYTES);',
        'const bytes = randomFillSync(Buffer.alloc(SECRET_BYTES));',
      ],
    ],
  },
  {
    name: 'our own requests and responses instead of Web ones',
    row: 'issue memory ES256',
    file: 'http/dist/mount/node.js',
    without: [
      [
        "import { createNotFoundResponse } from '../response.js';",
        "import { createNotFoundResponse } from '../response.js';\nimport { fromWebRequest, toWebResponse } from '../web.js';",
      ],
      [
        'const pending = routes.handle(fromNodeRequest(message, createSignedInReader(options, message), createSignOutFunction(options, message), createAddressReader(options, message, () => message.socket.remoteAddress)));',
        `const body = [];
        message.on('data', (chunk) => body.push(chunk));
        message.on('end', () => {
            const { method, url, headers } = message;
            const init = { method, headers, body: method === 'POST' ? Buffer.concat(body) : null };
            const request = new Request('http://127.0.0.1' + url, init);
            const address = createAddressReader(options, message, () => message.socket.remoteAddress);
            const plain = fromWebRequest(request, createSignedInReader(options, message), createSignOutFunction(options, message), address);
            routes.handle(plain).then(toWebResponse).then(async (made) => {
                const headers = Object.fromEntries(made.headers);
                sendResponse({ status: made.status, headers, body: await made.text() }, response);
            });
        });
        return;
        const pending = null;`,
      ],
    ],
  },
  {
    name: 'the request is a class, not an object with functions',
    row: 'issue memory opaque',
    file: 'http/dist/node.js',
    without: [
      [
        'return new NodeRequest(message, signedIn, signOut, address);',
        `const { path, query } = splitRequestTarget(message.originalUrl ?? message.url ?? '/');
    return {
        method: message.method ?? 'GET', path, query, signedIn, signOut,
        get address() { return address?.(); },
        header: (name) => readHeader(message, name),
        text: (limit) => readBody(message, limit, encodeParsed),
        rawText: (limit) => readBody(message, limit, requireRaw),
        toRequest(baseUrl) {
            const request = new Request(buildPublicUrl(baseUrl, this), { method: this.method });
            copyHeaders(message, request.headers);
            return request;
        },
    };`,
      ],
    ],
  },
  {
    name: 'rows get more values by Object.assign, not spread',
    row: 'authorize+token postgres',
    file: 'oauth/dist/storage/kysely/consents.js',
    without: [
      [
        'insertCode(Object.assign(codeTable.toRow(made), approval), on)',
        'insertCode({ ...codeTable.toRow(made), ...approval }, on)',
      ],
    ],
  },
]

const invoice = {
  id: 'in_1',
  object: 'invoice',
  metadata: { order: '6735' },
  lines: Array.from({ length: 3 }, (_, index) => ({
    id: `il_${index}`,
    amount: 1999,
    currency: 'usd',
    description: 'One month of something that has a name',
    period: { start: 1_700_000_000, end: 1_702_592_000 },
  })),
}

/**
 * Optimizations outside of any row: a plain implementation and ours, called alternately.
 * @param {(path: string) => string} at
 */
export async function listCalls(at) {
  const { formatMoney } = await import(at('billing/dist/core/values/money.js'))
  const { copyJson } = await import(at('sandbox/dist/core/store/copy-json.js'))
  return [
    {
      name: 'number formats for money are cached',
      ours: () => formatMoney({ amount: 1999, currency: 'eur' }),
      plain: () =>
        new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format('19.99'),
    },
    {
      name: 'date formats are cached',
      ours: (
        (dates) => () =>
          dates.format(1.7e12)
      )(new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })),
      plain: () =>
        new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(1.7e12),
    },
    {
      name: 'JSON is copied by hand',
      ours: () => copyJson(invoice),
      plain: () => structuredClone(invoice),
    },
    {
      name: 'a field is set to undefined instead of deleted',
      ours: () => ({ ...invoice, metadata: undefined }),
      plain: () => {
        const { metadata, ...rest } = invoice
        return rest
      },
    },
  ]
}
