import { z } from 'zod'
import { settingsInForce } from '../../config/in-force.ts'
import { type Operation, operation } from '../operation.ts'

/** Operations on the settings of the service. */
export const settingOperations: readonly Operation[] = [
  operation({
    name: 'settings.get',
    summary: 'Show the settings in force, each with its source',
    description:
      'Secrets are shown as `set` or `null`. Settings of the file are those that this process has read.',
    route: ['GET', '/settings'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({
      mode: z.enum(['demo', 'production']),
      settings: z.array(
        z.strictObject({
          name: z.string().describe('Name in `tollgate.config.ts`, or of the variable'),
          variable: z.string().nullable().describe('The environment variable that sets it'),
          source: z
            .enum(['environment', 'file', 'fapi2', 'default'])
            .describe('A file that states the default counts as `default`'),
          value: z.unknown(),
        }),
      ),
      warnings: z.array(z.string()).describe('Mistakes that do not stop the service'),
    }),
    run: async (_input, { config }) => ({
      mode: config.mode,
      settings: settingsInForce(config).map((each) => ({ ...each })),
      warnings: [...config.warnings],
    }),
  }),
]
