/* The corners of workloads/common/render.h. What OpenGL has lowest is the first row that is read back. */
void main()
{
	vec2 corners[3] = vec2[3](vec2(8.0, 8.0), vec2(56.5, 8.0), vec2(8.0, 56.5));

	gl_Position = vec4(corners[gl_VertexID] / 32.0 - 1.0, 0.0, 1.0);
}
