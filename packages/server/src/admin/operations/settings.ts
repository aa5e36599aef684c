import { z } from 'zod'
import { listEffectiveSettings } from '../../config/in-force.ts'
import { type Operation, operation } from '../operation.ts'

/** Operations on the settings of the service. */
export const settingOperations: readonly Operation[] = [
  operation({
    name: 'settings.get',
    summary: 'Show the effective settings, each with its source',
    description:
      'Secrets are shown as `set` or `null`. Settings of the file are shown as this process loaded them.',
    route: ['GET', '/settings'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({
      mode: z.enum(['demo', 'production']),
      settings: z.array(
        z.strictObject({
          name: z.string().describe('Name in `tollgate.config.ts`, or of the environment variable'),
          variable: z.string().nullable().describe('The environment variable that sets it'),
          source: z
            .enum(['environment', 'file', 'fapi2', 'default'])
            .describe(
              'Origin of the value. A value in the file that equals the default counts as `default`',
            ),
          value: z.unknown(),
        }),
      ),
      warnings: z
        .array(z.string())
        .describe('Mistakes that do not prevent the service from starting'),
    }),
    run: async (_input, { config }) => ({
      mode: config.mode,
      settings: listEffectiveSettings(config).map((each) => ({ ...each })),
      warnings: [...config.warnings],
    }),
  }),
]
