/** The parts of a CycloneDX document that are read here: https://cyclonedx.org/docs/1.5/json/ */
export interface Bom {
  readonly metadata: { readonly component: { readonly name: string; readonly 'bom-ref': string } };
  readonly components: readonly BomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface BomComponent {
  readonly 'bom-ref': string;
  readonly purl: string;
  readonly scope?: 'required' | 'optional' | 'excluded';
}

/**
 * Of all packages those that the functions' bundles can hold: npm marks what only development needs as
 * optional, as it does what is installed where it can be. Its own `--omit dev` also leaves out whatever
 * development needs as well, zod and the AWS SDK among them: https://github.com/npm/cli/issues/7909
 */
export function toRuntimeBom(all: Bom): Bom {
  const components = all.components.filter(({ scope }) => scope !== 'optional');
  const refs = new Set([all.metadata.component, ...components].map((one) => one['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map((one) => ({ ...one, dependsOn: one.dependsOn.filter((ref) => refs.has(ref)) }));
  return { ...all, components, dependencies };
}

/** npm names the project by its folder, which is some machine's; it has a name. */
export function withName(bom: Bom, name: string): Bom {
  const component = { ...bom.metadata.component, name };
  return { ...bom, metadata: { ...bom.metadata, component } };
}
