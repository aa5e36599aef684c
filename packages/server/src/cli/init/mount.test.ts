import { describe, expect, it } from 'vitest'
import { type FrameworkMountRules, isMounted, mountIn } from './mount.ts'

const EXPRESS: FrameworkMountRules = {
  package: 'express',
  creation: /express/,
  statement: (app) => `${app}.use(tollgate)`,
}
const FASTIFY: FrameworkMountRules = {
  package: 'fastify',
  creation: /(?:[Ff]astify|require\(['"]fastify['"]\))(?:<[^\n]*?>)?/,
  statement: (app) => `${app}.register(tollgate)`,
  marker: { line: /^([ \t]*)\/\/ Place here your custom code!.*\n/gm, app: 'fastify' },
}
const HONO: FrameworkMountRules = {
  package: 'hono',
  creation: /new Hono(?:<[^\n]*?>)?/,
  statement: (app) => `${app}.route('/', tollgate)`,
}

describe("mountIn(), which adds Tollgate's routes to the source of an application,", () => {
  const edits: readonly [
    name: string,
    rules: FrameworkMountRules,
    modules: 'esm' | 'require',
    before: string,
    after: string,
  ][] = [
    [
      'Express with ES modules',
      EXPRESS,
      'esm',
      `import express from 'express'\nimport { a } from './a.js'\n\nconst app = express()\napp.listen(3000)\n`,
      `import express from 'express'\nimport { tollgate } from './tollgate.js'\nimport { a } from './a.js'\n\nconst app = express()\napp.use(tollgate)\napp.listen(3000)\n`,
    ],
    [
      'double quotes and semicolons',
      EXPRESS,
      'esm',
      `import express, { type Express } from "express";\nexport const server: Express = express();\n`,
      `import express, { type Express } from "express";\nimport { tollgate } from "./tollgate.js";\nexport const server: Express = express();\nserver.use(tollgate);\n`,
    ],
    [
      'an import of several lines',
      EXPRESS,
      'esm',
      `import {\n  a,\n  b,\n} from './a.js'\nimport express, {\n  type Request,\n} from 'express'\nconst app = express() // the app\n`,
      `import {\n  a,\n  b,\n} from './a.js'\nimport express, {\n  type Request,\n} from 'express'\nimport { tollgate } from './tollgate.js'\nconst app = express() // the app\napp.use(tollgate)\n`,
    ],
    [
      'require',
      EXPRESS,
      'require',
      `'use strict'\nvar express = require('express');\nvar app = express();\n`,
      `'use strict'\nvar express = require('express');\nconst { tollgate } = require('./tollgate.js');\nvar app = express();\napp.use(tollgate);\n`,
    ],
    [
      'a function that makes the application',
      EXPRESS,
      'esm',
      `import express from 'express'\nexport function createApp() {\n  const app = express()\n  return app\n}\n`,
      `import express from 'express'\nimport { tollgate } from './tollgate.js'\nexport function createApp() {\n  const app = express()\n  app.use(tollgate)\n  return app\n}\n`,
    ],
    [
      'Windows line ends',
      EXPRESS,
      'esm',
      `import express from 'express'\r\nconst app = express()\r\n`,
      `import express from 'express'\r\nimport { tollgate } from './tollgate.js'\r\nconst app = express()\r\napp.use(tollgate)\r\n`,
    ],
    [
      'a last line without a line break',
      EXPRESS,
      'esm',
      `import express from 'express'\nconst app = express()`,
      `import express from 'express'\nimport { tollgate } from './tollgate.js'\nconst app = express()\napp.use(tollgate)\n`,
    ],
    [
      'Fastify with options over several lines',
      FASTIFY,
      'esm',
      `import Fastify from 'fastify'\nconst app = Fastify({\n  logger: { level: 'info)' }, // (\n})\n`,
      `import Fastify from 'fastify'\nimport { tollgate } from './tollgate.js'\nconst app = Fastify({\n  logger: { level: 'info)' }, // (\n})\napp.register(tollgate)\n`,
    ],
    [
      'Fastify that is loaded and made in one line',
      FASTIFY,
      'require',
      `const fastify = require('fastify')({ logger: true })\n`,
      `const { tollgate } = require('./tollgate.js')\nconst fastify = require('fastify')({ logger: true })\nfastify.register(tollgate)\n`,
    ],
    [
      'the plugin of fastify generate',
      FASTIFY,
      'require',
      `const AutoLoad = require('@fastify/autoload')\n\nmodule.exports = async function (fastify, opts) {\n  // Place here your custom code!\n\n}\n`,
      `const AutoLoad = require('@fastify/autoload')\nconst { tollgate } = require('./tollgate.js')\n\nmodule.exports = async function (fastify, opts) {\n  // Place here your custom code!\n  fastify.register(tollgate)\n\n}\n`,
    ],
    [
      'Hono with type arguments',
      HONO,
      'esm',
      `import { Hono } from 'hono'\nconst app = new Hono<{ Variables: { id: string } }>()\n`,
      `import { Hono } from 'hono'\nimport { tollgate } from './tollgate.js'\nconst app = new Hono<{ Variables: { id: string } }>()\napp.route('/', tollgate)\n`,
    ],
  ]
  it.each(edits)('adds the routes to a source with %s', (_name, rules, modules, before, after) => {
    expect(mountIn(before, rules, './tollgate.js', modules)).toBe(after)
    expect(isMounted(after)).toBe(true)
  })

  const unsure: readonly [name: string, rules: FrameworkMountRules, source: string][] = [
    ['makes no application', EXPRESS, `import express from 'express'\n`],
    [
      'makes two applications',
      EXPRESS,
      `import express from 'express'\nconst a = express()\nconst b = express()\n`,
    ],
    ['chains calls', HONO, `import { Hono } from 'hono'\nconst app = new Hono().get('/', home)\n`],
    [
      'chains calls on the next line',
      HONO,
      `import { Hono } from 'hono'\nconst app = new Hono()\n  .get('/', home)\n`,
    ],
    [
      'uses the name tollgate for something else',
      EXPRESS,
      `import express from 'express'\nconst app = express()\nconst tollgate = 1\n`,
    ],
    ['only has the call in a comment', EXPRESS, `// const app = express()\n`],
  ]
  it.each(unsure)(
    'returns null, and changes nothing, for a source that %s',
    (_name, rules, source) => {
      expect(mountIn(source, rules, './tollgate.js', 'esm')).toBeNull()
    },
  )
})
