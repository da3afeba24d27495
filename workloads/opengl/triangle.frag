precision highp float;

layout(location = 0) uniform vec4 colour;
layout(location = 0) out vec4 pixel;

void main()
{
	pixel = colour;
}
