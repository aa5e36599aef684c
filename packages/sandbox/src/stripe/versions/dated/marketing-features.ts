import { renameField } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** What a product's page boasts of was called its features; since April 2024 those are something else. */
export const marketingFeatures: VersionChange = {
  since: '2024-04-10',
  name: 'marketing-features',
  params: {
    'Products.create': (form) => renameField(form, 'features', 'marketing_features'),
    'Products.update': (form) => renameField(form, 'features', 'marketing_features'),
  },
  objects: {
    product(wire) {
      wire.features = wire.marketing_features ?? []
      delete wire.marketing_features
    },
  },
}
